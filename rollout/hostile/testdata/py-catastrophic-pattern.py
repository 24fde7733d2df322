# want: limit:wall
def run(task, model, env):
    import re
    re.match(r"(a+)+$", "a" * 64 + "b")
    return model.chat([{"role": "user", "content": "Say yes."}])
