# want: program
def run(task, model, env):
    import os
    left = {k for k in os.environ if k not in ("PATH", "LANG", "HOME", "LC_ALL", "LC_CTYPE", "PWD", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE")}
    if not left:
        raise OSError("nothing is inherited")
    return model.chat([{"role": "user", "content": "Say yes."}])
