package sandbox

// runningFile is the file of the process that asks, which after a fork is the child's and the same.
const runningFile = "/proc/self/exe"
