# want: program
def run(task, model, env):
    import socket
    socket.gethostbyname("localhost.localdomain")
    return model.chat([{"role": "user", "content": "Say yes."}])
