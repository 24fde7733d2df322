# want: answer:foreign|program
def run(task, model, env):
    return "yes"
    return model.chat([{"role": "user", "content": "Say yes."}])
