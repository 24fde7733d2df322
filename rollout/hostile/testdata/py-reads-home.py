# want: program
def run(task, model, env):
    import os
    os.listdir("/root")
    return model.chat([{"role": "user", "content": "Say yes."}])
