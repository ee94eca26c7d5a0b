/** `zooid-cli migrate` as a process, and what trials of it have in common. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT, type ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import type { ClientGates } from "./client-gates.ts";
import type { OperatorAct } from "./operator-port.ts";

const ZOOID_CLI = join(ROOT, "node_modules/.bin/zooid-cli");
/** The superuser's password is `test`, on both sides. */
export const SUPER: string = "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
export const AUTH: string = "digest super:test";

export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

export interface Ending {
  /** The process is ended when it has printed this, and a time later. */
  readonly at: RegExp;
  readonly afterMs: number;
  readonly signal: "SIGKILL" | "SIGINT";
}

export async function migrate(argv: readonly string[], ending?: Ending): Promise<Ended> {
  const child: ChildProcess = spawn(ZOOID_CLI, ["migrate", ...argv], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let isEnded = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
      if (ending === undefined || isEnded || !ending.at.test(output)) return;
      isEnded = true;
      void delay(ending.afterMs).then(() => child.kill(ending.signal));
    });
  const [status]: (number | null)[] = await once(child, "close");
  return { status: status ?? null, output };
}

/** Lines of a zoo.cfg. */
export function adminLines(port: number | undefined): readonly string[] {
  return ["admin.enableServer=true", "admin.serverAddress=127.0.0.1", `admin.serverPort=${port}`];
}

/** A command of the operator at a server of Apache's. */
export async function act(what: OperatorAct, server: ServerProcess, gates: ClientGates): Promise<void> {
  switch (what) {
    case "block":
      return await gates.close(server.port);
    case "fence":
      return await server.kill();
    case "release":
      if (!server.isRunning) server.launchAgain();
      return await gates.open(server.port);
  }
}
