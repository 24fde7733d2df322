# want: limit:wall
def run(task, model, env):
    import signal
    for s in range(1, 32):
        try:
            signal.signal(s, signal.SIG_IGN)
        except Exception:
            pass
    while True:
        pass
    return model.chat([{"role": "user", "content": "Say yes."}])
