# want: program
def run(task, model, env):
    import sys
    sys.setrecursionlimit(10**6)
    def down(n):
        return down(n + 1) + 1
    raise ValueError(down(0)) if False else ValueError("never deeper")
    return model.chat([{"role": "user", "content": "Say yes."}])
