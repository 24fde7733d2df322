# want: rejected:contract
def walk(task, model, env):
    return None
