import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { printDiff } from "@zooid/conformance/internal/diff";
import { ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { KAFKA } from "@zooid/conformance/internal/systems/kafka/kafka-run";
import { SOLR } from "@zooid/conformance/internal/systems/solr/solr-run";
import type { EnsembleServer } from "@zooid/conformance/internal/systems/system-ensemble";
import { type System, transcriptOf } from "@zooid/conformance/internal/systems/system-run";
import { run } from "@zooid/trials/internal/processes/run";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { pythonProgram } from "../cached-program.ts";
import { ROOT } from "../pack/public-packages.ts";
import { runKazoo } from "./kazoo.ts";

const COMPOSE_VERSION = "1.5.0";
const SERVICES = ["zoo1", "zoo2", "zoo3"] as const;
const HEALTHY_DEADLINE_MS = 60_000;
const POLL_MS = 200;
const FILE = join(ROOT, "image/compose.yaml");

/** podman's defaults fail on some machines, see `podman.ts`; names of services need netavark. */
const CONTAINERS_CONF = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
`;

/**
 * Starts image/compose.yaml, with this image and free ports, and runs kazoo, Kafka and SolrCloud on
 * it while members are killed and restarted. All must see what they see on Apache ZooKeeper.
 */
export async function testCompose(tag: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "compose-test-"));
  const project = new ComposeProject(tag, folder);
  try {
    const servers = await project.up();
    console.log("three members of image/compose.yaml are healthy");
    const kazooLines = await runKazoo(servers[1]?.port ?? 0, true);
    console.log(`kazoo: ${kazooLines} lines as recorded on Apache ZooKeeper`);
    for (const system of [KAFKA, SOLR]) await runSystem(system, servers, folder);
  } catch (error) {
    console.error(await project.logs().catch(String));
    throw error;
  } finally {
    await project.down().catch((error: unknown) => console.error(error));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runSystem(system: System, servers: readonly EnsembleServer[], folder: string): Promise<void> {
  const lines = await system.run({ servers, folder, ports: await freePorts(system.portCount) });
  const recorded = readFileSync(transcriptOf(system), "utf8").trimEnd().split("\n");
  const difference = printDiff(recorded, lines);
  if (difference !== "") throw new Error(`${system.name} differs (- recorded, + now):\n${difference}`);
  console.log(`${system.name}: ${lines.length} lines as recorded on Apache ZooKeeper; members killed and restarted`);
}

class ComposeProject {
  readonly #tag: string;
  readonly #folder: string;
  /** Unique, as other runs may be under way. */
  readonly #name: string;
  readonly #program = pythonProgram("podman-compose", COMPOSE_VERSION);

  constructor(tag: string, folder: string) {
    this.#tag = tag;
    this.#folder = folder;
    this.#name = `zooid${folder.slice(-6).toLowerCase()}`;
  }

  /** @returns the members, once all are healthy */
  async up(): Promise<readonly EnsembleServer[]> {
    const ports = await freePorts(SERVICES.length);
    let file = readFileSync(FILE, "utf8").replace("localhost/zooid:latest", this.#tag);
    for (const [i, port] of ports.entries()) {
      file = file.replace(`127.0.0.1:218${i + 1}:2181`, `127.0.0.1:${port}:2181`);
    }
    writeFileSync(join(this.#folder, "compose.yaml"), file);
    writeFileSync(join(this.#folder, "containers.conf"), CONTAINERS_CONF);
    const secret = join(this.#folder, "peer.secret");
    await run(ZOOID_SERVER, ["init-secret", secret], this.#folder);
    await run("chmod", ["0444", secret], this.#folder);
    await this.#compose("up", "-d");
    const servers = SERVICES.map((service, i) => ({
      port: ports[i] ?? 0,
      launch: async () => {
        await this.#compose("start", service);
        await this.#becomesHealthy(service);
      },
      kill: async () => {
        await this.#podman("kill", "--signal", "KILL", this.#container(service));
        await this.#podman("wait", this.#container(service));
      },
      stop: async () => {
        await this.#compose("stop", service);
      },
    }));
    for (const service of SERVICES) await this.#becomesHealthy(service);
    return servers;
  }

  async #becomesHealthy(service: string): Promise<void> {
    const deadline = performance.now() + HEALTHY_DEADLINE_MS;
    for (;;) {
      try {
        await this.#podman("exec", this.#container(service), "zkServer.sh", "health");
        return;
      } catch (cause) {
        if (performance.now() > deadline) throw new Error(`${service} is not healthy`, { cause });
        await delay(POLL_MS);
      }
    }
  }

  async logs(): Promise<string> {
    const logs = SERVICES.map((service) => this.#podman("logs", "--tail", "25", this.#container(service)));
    return (await Promise.all(logs)).join("\n");
  }

  async down(): Promise<void> {
    await this.#compose("down", "--volumes");
  }

  #container(service: string): string {
    return `${this.#name}_${service}_1`;
  }

  async #compose(...args: readonly string[]): Promise<string> {
    const { stdout } = await run(this.#program, ["-p", this.#name, ...args], this.#folder, this.#env);
    return stdout;
  }

  async #podman(...args: readonly string[]): Promise<string> {
    const { stdout, stderr } = await run("podman", args, this.#folder, this.#env);
    return stdout + stderr;
  }

  get #env(): Readonly<Record<string, string | undefined>> {
    return { ...process.env, CONTAINERS_CONF: join(this.#folder, "containers.conf") };
  }
}
