# want: rejected:parse
def run(task, model, env)
    return None
