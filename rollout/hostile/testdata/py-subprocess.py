# want: program
def run(task, model, env):
    import subprocess
    subprocess.run(["/usr/bin/id"], check = True)
    return model.chat([{"role": "user", "content": "Say yes."}])
