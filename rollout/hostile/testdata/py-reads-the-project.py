# want: program
def run(task, model, env):
    import os
    found = [d for d in ("/work", "/home", "/root", "/var", "/opt", "/srv", "/mnt", "/proc/1") if os.path.exists(d)]
    if not found:
        raise OSError("nothing of the machine is here")
    return model.chat([{"role": "user", "content": "Say yes."}])
