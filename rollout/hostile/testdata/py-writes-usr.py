# want: program
def run(task, model, env):
    open("/usr/lib/python3/x.py", "w").write("x")
    return model.chat([{"role": "user", "content": "Say yes."}])
