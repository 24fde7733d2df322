# want: program
def run(task, model, env):
    open("/etc/passwd").read()
    return model.chat([{"role": "user", "content": "Say yes."}])
