/**
 * Starts servers with every zoo.cfg of the shapes that images, charts, roles and manuals write
 * (apps/server/src/testing/estates): all members that the file lists, as processes on this machine,
 * with hosts and ports moved to places that are free. Each member must take a role, and must name
 * the keys without effect that the file's comment lists.
 *
 *     npm run tool -- estates [--only NAME,NAME]
 *
 * Needs Linux, whose loopback has many addresses; the `openssl` command, and Java's `keytool` for
 * stores of its form.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { text, toolOptions } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { type EstateFile, estateFiles, writeEstate } from "zooid-server/testing/estate-files";
import { Authority } from "../faults/ensemble-certificates.ts";
import { makeStores } from "./estate-stores.ts";
import { listedMembers, type MemberPlace, movedEstate } from "./moved-estate.ts";

const options = toolOptions({ only: text });
const BIN = fileURLToPath(new URL("../../../../apps/server/bin/zooid-server.cjs", import.meta.url));
const DEADLINE_MS = 90_000;
const PORTS_OF_MEMBER = 3;
/** From this line on a process handles SIGTERM. A member may have its role before it, or after. */
const SERVES = /serves ZooKeeper clients/;
const IS_MEMBER = /"myid":\d+/;
const HAS_ROLE = /"role":"(?:leading|following|observing)"/;
const NO_EFFECT = /"msg":"(\S+) \(line \d+/g;
/**
 * Settings that no file of other servers has: ports of operators collide on one machine, and hosts
 * are this one.
 */
const MOVED = ["--set", "admin.serverPort=0", "--set", "zooid.allowUnauthenticatedPeers=true"];

async function tryEstate(file: EstateFile, root: string): Promise<readonly string[]> {
  const listed = listedMembers(file);
  const sids = listed.length === 0 ? [Number(file.myid ?? "1")] : listed;
  const ports = await freePorts(sids.length * PORTS_OF_MEMBER);
  const places = sids.map((sid, i): MemberPlace => {
    const [quorumPort = 0, electionPort = 0, clientPort = 0] = ports.slice(i * PORTS_OF_MEMBER);
    return { sid, host: `127.78.${process.pid & 0xff}.${i + 1}`, quorumPort, electionPort, clientPort };
  });
  let made: Authority | undefined;
  const authority = (): Authority => (made ??= new Authority(root, file.name));
  const members = places.map(({ sid }) => {
    const folder = join(root, `${file.name}-${sid}`);
    mkdirSync(folder, { recursive: true });
    const config = writeEstate(movedEstate(file, sid, places), folder);
    const text = readFileSync(config, "utf8");
    const hosts = places.map(({ host }) => host);
    const stores = makeStores(text, hosts, authority).flatMap((setting) => ["--set", setting]);
    return new Member([config, ...argumentsFor(text), ...stores], folder);
  });
  try {
    const faults = await Promise.all(members.map((member) => member.faultAtStart(file.withoutEffect)));
    const ends = await Promise.all(members.map((member) => member.stop()));
    return [...faults, ...ends].filter((fault) => fault !== "");
  } finally {
    for (const member of members) member.kill();
  }
}

/** Ports that the file opens beside those of members. */
function argumentsFor(text: string): readonly string[] {
  const has = (key: string): boolean => new RegExp(`^\\s*${key}\\s*[=:]`, "m").test(text);
  return [
    ...MOVED,
    ...(has("secureClientPort") ? ["--set", "secureClientPort=0"] : []),
    ...(has("metricsProvider\\.className") ? ["--set", "metricsProvider.httpPort=0"] : []),
    // A file without a port for clients has Apache's default.
    ...(has("(?:secureClientPort|clientPort|dynamicConfigFile)") || text.includes(";") ? [] : ["--port", "0"]),
  ];
}

class Member {
  readonly #child: ChildProcess;
  #output = "";
  /** Resolved by the next output, by the end of the process, and at the deadline. */
  #news = Promise.withResolvers<void>();

  constructor(argv: readonly string[], folder: string) {
    this.#child = spawn(process.execPath, [BIN, ...argv], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on("data", (chunk) => {
        this.#output += chunk;
        this.#tell();
      });
    this.#child.once("close", () => this.#tell());
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** @returns why this member does not serve as the file says; empty if it does */
  async faultAtStart(withoutEffect: readonly string[]): Promise<string> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#tell();
    }, DEADLINE_MS);
    while (!this.#serves && this.#child.exitCode === null && !isLate) await this.#news.promise;
    clearTimeout(timer);
    if (!this.#serves) return `does not serve: ${this.#output.slice(-1500)}`;
    const named = [...this.#output.matchAll(NO_EFFECT)].map(([, key]) => key);
    const isAsSaid = named.join() === withoutEffect.join();
    return isAsSaid ? "" : `names ${named.join(", ")}, and not ${withoutEffect.join(", ")}`;
  }

  get #serves(): boolean {
    return SERVES.test(this.#output) && (!IS_MEMBER.test(this.#output) || HAS_ROLE.test(this.#output));
  }

  async stop(): Promise<string> {
    if (this.#child.exitCode === null) {
      this.#child.kill("SIGTERM");
      await once(this.#child, "close");
    }
    return this.#child.exitCode === 0 ? "" : `ended with ${this.#child.exitCode ?? this.#child.signalCode}`;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

const only = options.only?.split(",");
const files = estateFiles().filter(({ name }) => only === undefined || only.includes(name));
using temporary = mkdtempDisposableSync(join(tmpdir(), "estates-"));
const root = temporary.path;
let failed = 0;
for (const file of files) {
  const faults = await tryEstate(file, root);
  if (faults.length > 0) failed++;
  console.log(`${file.name}: ${faults.length === 0 ? "serves" : faults.join("\n  ")}`);
}
console.log(`${files.length - failed} of ${files.length} files serve`);
process.exitCode = failed === 0 ? 0 : 1;
