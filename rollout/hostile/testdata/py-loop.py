# want: limit:wall
def run(task, model, env):
    while True:
        pass
    return model.chat([{"role": "user", "content": "Say yes."}])
