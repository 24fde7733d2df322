// Package mcptool makes tools of a server of the Model Context Protocol, over stdio or streamable HTTP, with the official Go SDK.
//
// [Open] starts or reaches the server, asks for its tools and translates their schemas ([Spec]); [Server.Call] calls one. A server has one session for
// all episodes, made again when it ends.
//
// A server is somebody else's program. Its messages are of bounded size, it has deadlines to connect and to answer, and it gets no answers to what it
// might ask of its client (sampling, elicitation, roots). The tools that it has are those that it had at the start: a server that comes back with others is refused.
//
// What a call may come to: an answer; the server's own word that the call was wrong, which is the agent's mistake; a [*whale.Incident], where it hung or
// died over the call, or called itself broken; an error, where it could not be reached.
package mcptool
