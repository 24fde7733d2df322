# want: program|protocol|worker
def run(task, model, env):
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
    os.abort()
    return model.chat([{"role": "user", "content": "Say yes."}])
