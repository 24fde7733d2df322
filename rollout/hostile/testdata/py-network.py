# want: program
def run(task, model, env):
    import socket
    socket.create_connection(("127.0.0.1", 22), timeout = 1)
    return model.chat([{"role": "user", "content": "Say yes."}])
