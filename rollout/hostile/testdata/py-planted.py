# want: planted
def run(task, model, env):
    model.chat([{"role": "user", "content": "Play d2d4."}])
    return model.chat([{"role": "user", "content": "Say yes."}])
