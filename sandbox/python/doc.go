// Package python runs Python code that a model wrote and gives back what it printed.
//
//   - [Runner] runs it here, under bubblewrap ([sandbox.StartCommand]): no network, no other processes, no files but the interpreter's own and a small
//     /tmp, and limits on memory, processor time, wall time and output. Every call is a process of its own and keeps nothing.
//   - [Fusion] asks a SandboxFusion server (github.com/bytedance/SandboxFusion, POST /run_code).
//
// Both give a [Result]: what the code did, mistakes and broken limits included, is for the model to read; an error is the infrastructure's. Their Do method has
// the form that package task/math asks of its tool.
package python
