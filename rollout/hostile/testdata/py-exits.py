# want: protocol
def run(task, model, env):
    import os
    os._exit(0)
    return model.chat([{"role": "user", "content": "Say yes."}])
