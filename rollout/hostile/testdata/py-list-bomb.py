# want: limit:memory
def run(task, model, env):
    x = [0] * (1 << 32)
    return model.chat([{"role": "user", "content": "Say yes."}])
