# want: program
def run(task, model, env):
    import mmap
    m = mmap.mmap(-1, 1 << 33)
    for i in range(0, 1 << 33, 4096):
        m[i] = 1
    return model.chat([{"role": "user", "content": "Say yes."}])
