# want: limit:memory
def run(task, model, env):
    kept = [bytes(1 << 26) for _ in range(1000)]
    return model.chat([{"role": "user", "content": "Say yes."}])
