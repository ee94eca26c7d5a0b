/**
 * Three machines on one: each has a network namespace of its own, with an address that the others reach by its name,
 * and its own `/etc/zookeeper`, `/var/lib/zookeeper` and `/root`. A `systemctl` of theirs starts and stops the server.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "../faults/own-namespaces.ts";
import { ROOT } from "../pack/public-packages.ts";

const NAMES = "/run/netns";
const BRIDGE = "machines";
/** Where the folders of a machine are found by its programs. */
const PLACES = { etc: "/etc/zookeeper", data: "/var/lib/zookeeper", root: "/root" } as const;
const COMMAND_MS_MAX = 120_000;

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

export interface Outcome {
  readonly status: number | null;
  readonly output: string;
}

export class Machines implements AsyncDisposable {
  readonly names: readonly string[];
  readonly #folder: string;
  readonly #running = new Set<ChildProcess>();
  /** Made here, to be mounted over. */
  readonly #made: readonly string[];

  /** Only inside a network and a mount namespace of one's own. */
  constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.names = names;
    this.#made = Object.values(PLACES).filter((place) => !existsSync(place));
    for (const place of this.#made) mkdirSync(place);
    mkdirSync(NAMES, { recursive: true });
    run("mount", "-t", "tmpfs", "none", NAMES);
    run("ip", "link", "add", BRIDGE, "type", "bridge");
    run("ip", "link", "set", BRIDGE, "up");
    for (const [i, name] of names.entries()) {
      run("ip", "netns", "add", name);
      run("ip", "-n", name, "link", "set", "lo", "up");
      run("ip", "link", "add", `to-${name}`, "type", "veth", "peer", "name", "eth0", "netns", name);
      run("ip", "link", "set", `to-${name}`, "master", BRIDGE, "up");
      run("ip", "-n", name, "address", "add", `10.79.0.${i + 1}/24`, "dev", "eth0");
      run("ip", "-n", name, "link", "set", "eth0", "up");
      for (const part of Object.keys(PLACES)) mkdirSync(join(folder, name, part), { recursive: true });
    }
    const hosts = names.map((name, i) => `10.79.0.${i + 1} ${name}`);
    writeFileSync(join(folder, "hosts"), ["127.0.0.1 localhost", ...hosts, ""].join("\n"));
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/systemctl"), SYSTEMCTL);
    chmodSync(join(folder, "bin/systemctl"), 0o755);
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
    const child = spawn(
      "ip",
      ["netns", "exec", machine, "unshare", "--mount", "bash", "-c", `exec > ${output} 2>&1; ${inside.join(" && ")}`],
      {
        stdio: "ignore",
        timeout: COMMAND_MS_MAX,
        killSignal: "SIGKILL",
        env: {
          ...process.env,
          HOME: "/root",
          PATH: [join(this.#folder, "bin"), join(ROOT, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
        },
      },
    );
    this.#running.add(child);
    const [status] = (await once(child, "exit")) as [number | null];
    this.#running.delete(child);
    return { status, output: readFileSync(output, "utf8") };
  }

  /** The last lines of a server's log. */
  logTail(machine: string): string {
    const file = this.file(machine, "root", "zookeeper.log");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").slice(-12).join("\n") : "no log";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    for (const machine of this.names) {
      await this.run(machine, "systemctl kill");
      run("ip", "netns", "delete", machine);
    }
    run("ip", "link", "delete", BRIDGE);
    spawnSync("umount", [NAMES]);
    for (const place of this.#made) rmSync(place, { recursive: true, force: true });
  }
}
