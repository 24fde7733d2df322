# want: limit:wall
def run(task, model, env):
    x = 3
    while True:
        x = x * x % (1 << 100000)
    return model.chat([{"role": "user", "content": "Say yes."}])
