# want: limit:log
def run(task, model, env):
    while True:
        print("x" * 1000)
    return model.chat([{"role": "user", "content": "Say yes."}])
