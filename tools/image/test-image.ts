import { createHash, randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { runKazoo } from "./kazoo.ts";
import { LIMITS, logsOf, podman } from "./podman.ts";
import { testUsers } from "./test-users.ts";

const UID = 1000;
const DEADLINE_MS = 60_000;
const POLL_MS = 200;
const PROBE_COUNT = 10_000;
const DIRECTORIES = ["conf", "data", "datalog", "logs"] as const;

interface MemberContainer {
  readonly name: string;
  readonly sid: number;
  readonly clientPort: number;
  readonly adminPort: number;
  readonly folder: string;
}

/** Says what holds, one line each; throws at the first thing that does not. */
export async function testImage(tag: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "image-test-"));
  // The container's user looks into its own folders alone.
  chmodSync(folder, 0o755);
  const run = new ImageRun(tag, folder);
  try {
    await run.all();
  } catch (error) {
    await run.printLogs();
    throw error;
  } finally {
    await run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

class ImageRun {
  readonly #tag: string;
  readonly #folder: string;
  readonly #secret = `test:${randomBytes(32).toString("base64")}`;
  #members: readonly MemberContainer[] = [];
  #servers = "";

  constructor(tag: string, folder: string) {
    this.#tag = tag;
    this.#folder = folder;
  }

  async all(): Promise<void> {
    await this.#checkRefusals();
    await testUsers(this.#tag, this.#folder, (suffix) => this.#name(suffix));
    await this.#start();
    await this.#checkIsolation();
    await this.#checkSecrets();
    await this.#checkProbes();
    await this.#runKazoo();
    await this.#roll();
    await this.#checkStops();
  }

  /** Wrong variables end a container with status 2, and one line for each problem. */
  async #checkRefusals(): Promise<void> {
    const name = this.#name("refused");
    const env = ["--env", "ZOO_MY_ID=one", "--env", "ZOO_LOG_LEVEL=loud"];
    await podman("run", "--detach", ...LIMITS, "--network", "host", "--name", name, ...env, this.#tag);
    const status = await podman("wait", name);
    const lines = (await logsOf(name)).trim().split("\n");
    await podman("rm", "--force", name);
    expect(status === "2" && lines.length === 2, `wrong variables: status 2 and two lines, found ${status}: ${lines}`);
    console.log("wrong variables are refused, all at once, with status 2");
  }

  async #start(): Promise<void> {
    const ports = await freePorts(12);
    this.#members = [1, 2, 3].map((sid) => ({
      name: this.#name(String(sid)),
      sid,
      clientPort: ports[sid - 1] ?? 0,
      adminPort: ports[sid + 2] ?? 0,
      folder: join(this.#folder, String(sid)),
    }));
    this.#servers = this.#members
      .map(({ sid, clientPort }) => `server.${sid}=127.0.0.1:${ports[sid + 5]}:${ports[sid + 8]};${clientPort}`)
      .join(" ");
    writeFileSync(join(this.#folder, "secret"), `${this.#secret}\n`, { mode: 0o444 });
    for (const member of this.#members) {
      for (const directory of DIRECTORIES) {
        mkdirSync(join(member.folder, directory), { recursive: true });
        chownSync(join(member.folder, directory), UID, UID);
      }
      await this.#run(member);
    }
    for (const member of this.#members) await this.#becomesHealthy(member);
    console.log("three containers with the official image's variables are healthy");
  }

  async #run({ name, sid, adminPort, folder }: MemberContainer): Promise<void> {
    const environment = {
      ZOO_MY_ID: String(sid),
      ZOO_SERVERS: this.#servers,
      ZOO_4LW_COMMANDS_WHITELIST: "*",
      ZOO_CFG_EXTRA: `admin.serverPort=${adminPort} maxSessionTimeout=60000`,
      ZOOID_PEER_SECRET_FILE: "/run/secrets/peer",
      ZOO_TICKTIME: "2000",
    };
    await podman(
      ...["run", "--detach", "--name", name, ...LIMITS, "--network", "host", "--read-only", "--cap-drop", "all"],
      ...Object.entries(environment).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
      ...DIRECTORIES.flatMap((directory) => ["--volume", `${join(folder, directory)}:/${directory}`]),
      ...["--volume", `${join(this.#folder, "secret")}:/run/secrets/peer:ro`, this.#tag],
    );
  }

  /** By the image's own check. */
  async #becomesHealthy({ name }: MemberContainer): Promise<void> {
    await this.#until(`${name} is healthy`, async () => {
      await podman("exec", name, "zkServer.sh", "health");
      return true;
    });
  }

  async #checkIsolation(): Promise<void> {
    const { name, folder } = this.#member(1);
    const status = await podman("exec", name, "sh", "-c", "cat /proc/1/status");
    expect(new RegExp(`^Uid:\\s+${UID}\\s`, "m").test(status), `the server's user is ${UID}, found ${status}`);
    const written = podman("exec", name, "sh", "-c", "echo x > /opt/zooid/x");
    await written.then(
      () => expect(false, "the root file system is read-only"),
      () => undefined,
    );
    expect(readFileSync(join(folder, "data/myid"), "utf8") === "1\n", "myid is in the data directory");
    const mode = await podman("exec", name, "zkServer.sh", "status");
    expect(/^Mode: (leader|follower)$/m.test(mode), `zkServer.sh status prints the mode, found ${mode}`);
    console.log(`user ${UID}, a read-only root, no capabilities; zkServer.sh status prints the mode`);
  }

  async #checkSecrets(): Promise<void> {
    const [, bytes = ""] = this.#secret.split(":");
    for (const { name } of this.#members) {
      const log = await logsOf(name);
      expect(!log.includes(bytes), `${name} prints no secret`);
      expect(log.includes("ZOO_TICKTIME") && log.includes("ZOO_TICK_TIME"), `${name} names the nearest variable`);
      const environment = await podman("exec", name, "sh", "-c", "tr '\\0' '\\n' < /proc/1/environ");
      expect(!environment.includes(bytes), `the environment of ${name} has no secret`);
    }
    console.log("no secret is printed; an unknown variable is reported with the nearest one");
  }

  /** As estates probe ZooKeeper, none of which may come back empty. */
  async #checkProbes(): Promise<void> {
    const { name, clientPort, adminPort } = this.#member(1);
    const probe = `[ "$(echo ruok | nc 127.0.0.1 ${clientPort})" = imok ] || failed=$((failed + 1))`;
    const loop = `failed=0; i=0; while [ $i -lt ${PROBE_COUNT} ]; do ${probe}; i=$((i + 1)); done; echo $failed`;
    const failed = await podman("exec", name, "sh", "-c", loop);
    expect(failed === "0", `all of ${PROBE_COUNT} probes by nc are answered, found ${failed} that are not`);
    const page = await podman("exec", name, "wget", "-q", "-O", "-", `http://127.0.0.1:${adminPort}/commands/ruok`);
    expect(page.includes('"error" : null'), `wget gets the admin port's answer, found ${page}`);
    const cleaned = await podman("exec", name, "zkCleanup.sh", "-n", "3");
    expect(cleaned.startsWith("zkCleanup.sh: nothing to do"), `zkCleanup.sh ends well, found ${cleaned}`);
    const label = '{{index .Config.Labels "org.opencontainers.image.version"}}';
    const version = await podman("image", "inspect", "--format", label, this.#tag);
    expect(/^\d+\.\d+\.\d+/.test(version), `the image has its version as a label, found ${version}`);
    console.log(`${PROBE_COUNT} probes by nc, none empty; wget, zkCleanup.sh, the version as a label`);
  }

  async #runKazoo(): Promise<void> {
    const count = await runKazoo(this.#member(2).clientPort);
    console.log(`kazoo: ${count} lines as recorded on Apache ZooKeeper`);
  }

  /** A new container with the same volumes, as an update makes it. */
  async #replace(member: MemberContainer): Promise<void> {
    await podman("rm", member.name);
    await this.#run(member);
    await this.#becomesHealthy(member);
  }

  /**
   * Each is killed or stopped in its turn, while a client writes; nothing that was acknowledged is
   * lost.
   */
  async #roll(): Promise<void> {
    const hosts = this.#members.map(({ clientPort }) => `127.0.0.1:${clientPort}`).join(",");
    await using zk = await connect(hosts, { sessionTimeoutMs: 30_000 });
    await zk.create("/rolled", "");
    const ending = new AbortController();
    let count = 0;
    const writing = (async () => {
      while (!ending.signal.aborted) {
        await zk.create(`/rolled/${count}`, "x", { idempotent: true });
        count++;
        await delay(20);
      }
    })();
    for (const [i, member] of this.#members.entries()) {
      const before = count;
      await podman(...(i === 0 ? ["kill", "--signal", "KILL", member.name] : ["stop", "--time", "20", member.name]));
      await podman("wait", member.name);
      await this.#until("writes continue without it", () => Promise.resolve(count > before + 5), writing);
      await this.#replace(member);
    }
    ending.abort();
    await writing;
    const { names } = await zk.children("/rolled");
    expect(names.length === count, `${count} acknowledged writes are there, found ${names.length}`);
    console.log(`one killed, two stopped and replaced under load: ${count} acknowledged writes are there`);
  }

  async #checkStops(): Promise<void> {
    for (const { name } of this.#members) {
      await podman("stop", "--time", "20", name);
      const status = await podman("inspect", "--format", "{{.State.ExitCode}}", name);
      expect(status === "0", `${name} ends with status 0 after SIGTERM, found ${status}`);
    }
    console.log("SIGTERM ends each with status 0");
  }

  async #until(claim: string, test: () => Promise<boolean>, beside?: Promise<void>): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    let reason: unknown;
    while (Date.now() < deadline) {
      const holds = await test().catch((error: unknown) => {
        reason = error;
        return false;
      });
      if (holds) return;
      await (beside === undefined ? delay(POLL_MS) : Promise.race([delay(POLL_MS), beside]));
    }
    throw new Error(`not within ${DEADLINE_MS} ms: ${claim}`, { cause: reason });
  }

  #member(sid: number): MemberContainer {
    const member = this.#members.find((one) => one.sid === sid);
    if (member === undefined) throw new Error(`member ${sid} is not started`);
    return member;
  }

  /** A name that no other run has: others may run at the same time. */
  #name(suffix: string): string {
    return `zooid-image-${createHash("sha256").update(this.#folder).digest("hex").slice(0, 8)}-${suffix}`;
  }

  async printLogs(): Promise<void> {
    for (const { name } of this.#members) {
      const log = await logsOf(name).catch(() => "");
      console.error(`--- ${name}\n${log.split("\n").slice(-25).join("\n")}`);
    }
  }

  async remove(): Promise<void> {
    for (const name of ["refused", "1", "2", "3"].map((suffix) => this.#name(suffix)))
      await podman("rm", "--force", "--ignore", name).catch((error: unknown) => console.error(error));
  }
}

function expect(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`does not hold: ${claim}`);
}
