# want: limit:wall
def run(task, model, env):
    import time
    time.sleep(1000)
    return model.chat([{"role": "user", "content": "Say yes."}])
