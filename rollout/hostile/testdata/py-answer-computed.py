# want: authored
def run(task, model, env):
    model.chat([{"role": "user", "content": "Your move?"}])
    env.call("move", uci = "d2d4")
    return model.chat([{"role": "user", "content": "Say yes."}])
