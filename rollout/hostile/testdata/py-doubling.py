# want: limit:memory
def run(task, model, env):
    s = "x"
    while True:
        s += s
    return model.chat([{"role": "user", "content": "Say yes."}])
