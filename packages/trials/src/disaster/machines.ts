/**
 * Several machines on one: each has a network namespace of its own, with an address that the others
 * reach by its name, and its own `/etc/zookeeper`, `/var/lib/zookeeper` and `/root`. A `systemctl`
 * of theirs starts and stops the server.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { run } from "../processes/own-namespaces.ts";

const NAMES = "/run/netns";
const BRIDGE = "machines";
/** Where the folders of a machine are found by its programs. */
const PLACES = { etc: "/etc/zookeeper", data: "/var/lib/zookeeper", root: "/root" } as const;
/** A block of commands that takes longer, such as one that waits, has failed. */
const COMMANDS_MS_MAX = 120_000;
/** Killed processes are gone after a moment, unless the disk is stuck. */
const KILL_MS_MAX = 30_000;
const LOG_LINES = 12;

/** As an operator's, for one service: it returns when the process has begun, or has ended. */
const SYSTEMCTL = `#!/bin/bash
pid=/root/zookeeper.pid
case "$1" in
  start)
    setsid zooid-server ${PLACES.etc}/zoo.cfg >> /root/zookeeper.log 2>&1 < /dev/null &
    echo $! > "$pid"
    ;;
  stop)
    [ -e "$pid" ] || exit 0
    kill "$(cat "$pid")" 2> /dev/null
    while kill -0 "$(cat "$pid")" 2> /dev/null; do sleep 0.05; done
    rm -f "$pid"
    ;;
  kill)
    [ -e "$pid" ] || exit 0
    kill -KILL "$(cat "$pid")" 2> /dev/null
    while kill -0 "$(cat "$pid")" 2> /dev/null; do sleep 0.05; done
    rm -f "$pid"
    ;;
esac
`;

/** At least one; `zk-3` has server 3. */
export type MachineNames = readonly [string, ...string[]];

export interface Outcome {
  /** Null for commands that were killed, since they took too long. */
  readonly status: number | null;
  readonly output: string;
}

export class Machines implements AsyncDisposable {
  readonly names: MachineNames;
  readonly #folder: string;
  /** The devices that have been made, to be taken away in the opposite order. */
  readonly #made = new AsyncDisposableStack();
  readonly #killAll = (): boolean => this.#kill(this.names);

  private constructor(folder: string, names: MachineNames) {
    this.#folder = folder;
    this.names = names;
  }

  /** Only inside a network and a mount namespace of one's own. */
  static async make(folder: string, names: MachineNames): Promise<Machines> {
    const machines = new Machines(folder, names);
    try {
      machines.#make();
      return machines;
    } catch (error) {
      await machines[Symbol.asyncDispose]();
      throw error;
    }
  }

  #make(): void {
    for (const place of Object.values(PLACES).filter((each) => !existsSync(each))) {
      mkdirSync(place);
      this.#made.defer(() => rmdirSync(place));
    }
    mkdirSync(NAMES, { recursive: true });
    run("mount", "-t", "tmpfs", "none", NAMES);
    this.#made.defer(() => run("umount", NAMES));
    run("ip", "link", "add", BRIDGE, "type", "bridge");
    this.#made.defer(() => run("ip", "link", "delete", BRIDGE));
    run("ip", "link", "set", BRIDGE, "up");
    for (const [i, name] of this.names.entries()) this.#connect(name, `10.79.0.${i + 1}`);
    // Servers have sessions of their own, and outlive a tool that is interrupted.
    process.on("exit", this.#killAll);
    this.#made.defer(() => {
      process.off("exit", this.#killAll);
    });
    this.#made.defer(() => this.#end(this.names));
    const hosts = this.names.map((name, i) => `10.79.0.${i + 1} ${name}`);
    writeFileSync(join(this.#folder, "hosts"), ["127.0.0.1 localhost", ...hosts, ""].join("\n"));
    mkdirSync(join(this.#folder, "bin"));
    writeFileSync(join(this.#folder, "bin/systemctl"), SYSTEMCTL);
    chmodSync(join(this.#folder, "bin/systemctl"), 0o755);
  }

  #connect(name: string, address: string): void {
    for (const part of Object.keys(PLACES)) mkdirSync(join(this.#folder, name, part), { recursive: true });
    run("ip", "netns", "add", name);
    this.#made.defer(() => run("ip", "netns", "delete", name));
    run("ip", "link", "add", `to-${name}`, "type", "veth", "peer", "name", "eth0", "netns", name);
    // The kernel takes a namespace's interfaces away some time after its last process, and the next
    // machine of this name needs them gone.
    this.#made.defer(() => run("ip", "link", "delete", `to-${name}`));
    run("ip", "link", "set", `to-${name}`, "master", BRIDGE, "up");
    run("ip", "-n", name, "link", "set", "lo", "up");
    run("ip", "-n", name, "address", "add", `${address}/24`, "dev", "eth0");
    run("ip", "-n", name, "link", "set", "eth0", "up");
  }

  /** A file of a machine, as the tool sees it. */
  file(machine: string, part: keyof typeof PLACES, name: string): string {
    return join(this.#folder, machine, part, name);
  }

  /** Runs commands in bash, which ends at the first that fails. */
  async run(machine: string, commands: string): Promise<Outcome> {
    const mounts = Object.entries(PLACES).map(
      ([part, place]) => `mount --bind ${join(this.#folder, machine, part)} ${place}`,
    );
    const script = join(this.#folder, "commands.sh");
    writeFileSync(script, `set -eu\n${commands}`);
    const inside = [...mounts, `mount --bind ${join(this.#folder, "hosts")} /etc/hosts`, "cd /root", `bash ${script}`];
    // Output goes to a file: a server that a command leaves running holds a pipe open.
    const output = join(this.#folder, "output");
    writeFileSync(output, "");
    const child = spawn(
      "ip",
      ["netns", "exec", machine, "unshare", "--mount", "bash", "-c", `exec > ${output} 2>&1; ${inside.join(" && ")}`],
      {
        stdio: "ignore",
        // The commands are a group of processes, and are killed as one.
        detached: true,
        env: {
          ...process.env,
          HOME: "/root",
          PATH: [join(this.#folder, "bin"), join(ROOT, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
        },
      },
    );
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, COMMANDS_MS_MAX);
    await once(child, "exit").finally(() => clearTimeout(timer));
    return { status: child.exitCode, output: readFileSync(output, "utf8") };
  }

  /** The last lines of each log in a machine's home. */
  logTails(machine: string): string {
    const files = readdirSync(this.file(machine, "root", "")).filter((name) => name.endsWith(".log"));
    const tails = files.map((name) => {
      const lines = readFileSync(this.file(machine, "root", name), "utf8")
        .trim()
        .split("\n");
      return [`--- ${machine}: ${name}`, ...lines.slice(-LOG_LINES)].join("\n");
    });
    return tails.length === 0 ? `--- ${machine}: no log` : tails.join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#made.disposeAsync();
  }

  /** Kills every process on some machines, and waits until all are gone. */
  async #end(names: readonly string[]): Promise<void> {
    const deadlineMs = performance.now() + KILL_MS_MAX;
    while (this.#kill(names)) {
      if (performance.now() > deadlineMs) throw new Error(`processes on ${names.join(", ")} do not end`);
      await delay(20);
    }
  }

  /** @returns whether there were any */
  #kill(names: readonly string[]): boolean {
    const pids = names.flatMap((name) => {
      const { stdout } = spawnSync("ip", ["netns", "pids", name], { encoding: "utf8" });
      return stdout.split("\n").filter((line) => line !== "");
    });
    for (const pid of pids) kill(Number(pid));
    return pids.length > 0;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
