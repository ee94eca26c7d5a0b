import { spawn } from "node:child_process";

/**
 * Reports this process's state to systemd, where a unit of `Type=notify` started it: Node.js has no
 * datagram sockets of the local kind, so the program `systemd-notify` does it, which needs
 * `NotifyAccess=all`. Without systemd nothing happens, and a failure is no reason to end.
 */
export function notifySystemd(...states: readonly string[]): void {
  const { NOTIFY_SOCKET } = process.env;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === "") return;
  const child = spawn("systemd-notify", states, { stdio: "ignore" });
  // systemd reports that a unit has not become ready in time.
  child.on("error", () => {});
  child.unref();
}
