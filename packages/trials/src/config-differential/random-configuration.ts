import { Random } from "@zooid/conformance/internal/random";
import type { ConfigurationCase } from "./configuration-case.ts";
import { KEY_SAMPLES, type KeySamples } from "./key-samples.ts";
import { officialImageFiles } from "./official-image.ts";

type Line = readonly [key: string, value: string];

const SUPER_DIGEST = "DigestAuthenticationProvider.superDigest";

/** One slip of an operator: some of them must end the start, some have no effect. */
export const MISSPELT: readonly Line[] = [
  ["server.3O", "127.0.0.1:21101:21102"],
  ["server.3a", "127.0.0.1:21101:21102"],
  ["server.", "127.0.0.1:21101:21102"],
  ["server.-3", "127.0.0.1:21101:21102"],
  ["Server.3", "127.0.0.1:21101:21102"],
  ["weight.x", "1"],
  ["group.x", "1:2"],
  ["sessionRequireClientSASLauth", "true"],
  ["enforce.auth.enable", "true"],
  ["admin.forceHttp", "true"],
  ["superdigest", "super:x"],
  ["authProvder.1", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"],
  ["ticktime", "4000"],
  ["tickTme", "4000"],
  ["clientport", "21990"],
  ["maxClientCnxn", "5"],
  ["initlimit", "7"],
];

const PREFIXED: readonly Line[] = [
  ["zookeeper.skipACL", "yes"],
  [`zookeeper.${SUPER_DIGEST}`, "super:D/InIHSb7yEEbrWz8b9l71RjZJU="],
  ["zookeeper.tickTime", "1000"],
  ["zookeeper.maxCnxns", "50"],
  ["zookeeper.extendedTypesEnabled", "true"],
  ["zookeeper.4lw.commands.whitelist", "ruok"],
];

const FLAGS: readonly string[] = [
  ...["zookeeper.maxCnxns=77", "zookeeper.admin.serverPort=21777", "zookeeper.admin.enableServer=false"],
  ...["zookeeper.extendedTypesEnabled=true", "jute.maxbuffer=4194304", "jute.maxbuffer=0x200000"],
  ...["readonlymode.enabled=true", "znode.container.checkIntervalMs=30000", "fsync.warningthresholdms=20"],
  ...["zookeeper.4lw.commands.whitelist=ruok,srvr", "zookeeper.skipACL=no", "zookeeper.globalOutstandingLimit=500"],
  ...["zookeeper.maxCnxns=many", "zookeeper.snapCount=1000"],
];

/**
 * Hosts of other members; those beyond the loopback ask for proof of a secret, or for a word that
 * it is not needed.
 */
const HOSTS = ["127.0.0.1", "localhost", "127.0.0.2", "[::1]"];
const NO_PROOF: Line = ["zooid.allowUnauthenticatedPeers", "true"];
const VOTERS_MAX = 5;

/** The same seed gives the same files. */
export function randomConfiguration(seed: number): ConfigurationCase {
  return new Generator(seed).configuration();
}

class Generator {
  readonly #random: Random;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
  }

  configuration(): ConfigurationCase {
    const random = this.#random;
    const shape = random.next();
    const members = shape < 0.5 ? [] : this.#members();
    const isDynamic = members.length > 0 && shape > 0.85;
    if (members.length > 0 && !isDynamic && shape > 0.75) return this.#container(members);
    const lines: Line[] = this.#baseLines(members);
    if (members.length > 0) lines.push(...this.#memberSettings());
    for (let left = random.between(0, 3); left > 0; left--) lines.push(this.#setting());
    if (random.chance(0.08)) lines.push(random.pick(MISSPELT));
    if (random.chance(0.06)) lines.push(random.pick(PREFIXED));
    if (random.chance(0.06)) lines.push(this.#doubled(lines));
    const own = isDynamic ? [] : members;
    if (isDynamic) lines.push(["dynamicConfigFile", "{dir}/zoo.cfg.dynamic"]);
    const text = this.#text([...lines, ...own]);
    const version: readonly Line[] = random.chance(0.1) ? [["version", "100000001"]] : [];
    return {
      seed: this.#seed,
      files: {
        "zoo.cfg": text,
        ...(isDynamic ? { "zoo.cfg.dynamic": this.#text([...members, ...version]) } : {}),
        ...(members.length > 0 || random.chance(0.1) ? this.#myid(members.length) : {}),
      },
      flags: random.chance(0.15) ? [random.pick(FLAGS)] : [],
    };
  }

  #baseLines(members: readonly Line[]): Line[] {
    const random = this.#random;
    const lines: Line[] = [];
    if (!random.chance(0.02)) lines.push(["dataDir", random.pick(["{dir}/data", "{dir}/data/", "{dir}/data/../data"])]);
    const hasPort = members.some(([, value]) => value.includes(";")) ? random.chance(0.3) : !random.chance(0.04);
    if (hasPort) lines.push(["clientPort", random.chance(0.05) ? random.pick(["0", "-1", "99999", "x"]) : "21810"]);
    if (random.chance(0.5)) lines.push(["tickTime", "2000"]);
    return lines;
  }

  #container(members: readonly Line[]): ConfigurationCase {
    const random = this.#random;
    const isSplit = members.some(([, value]) => /\s/.test(value));
    const extra = Array.from({ length: random.between(0, 2) }, () => this.#setting()).filter(
      ([, value]) => value !== "" && !/\s/.test(value),
    );
    const environment: Record<string, string> = {
      ZOO_DATA_DIR: "{dir}/data",
      ZOO_DATA_LOG_DIR: "{dir}/log",
      ZOO_CONF_DIR: "{dir}/conf",
      ZOO_LOG_DIR: "{dir}/logs",
      ZOOID_ALLOW_UNAUTHENTICATED_PEERS: "true",
      ...(isSplit ? {} : { ZOO_SERVERS: members.map(([key, value]) => `${key}=${value}`).join(" ") }),
      ...(extra.length === 0 ? {} : { ZOO_CFG_EXTRA: extra.map(([key, value]) => `${key}=${value}`).join(" ") }),
    };
    const more = { ZOO_MY_ID: String(random.between(1, members.length)), ZOO_TICK_TIME: "1000", ZOO_INIT_LIMIT: "20" };
    const others = { ZOO_MAX_CLIENT_CNXNS: "0", ZOO_STANDALONE_ENABLED: "false", ZOO_4LW_COMMANDS_WHITELIST: "*" };
    for (const [name, value] of Object.entries({ ...more, ...others }))
      if (random.chance(0.4)) environment[name] = value;
    return { seed: this.#seed, files: officialImageFiles(environment), flags: [], environment };
  }

  #memberSettings(): readonly Line[] {
    const random = this.#random;
    const lines: Line[] = random.chance(0.9) ? [NO_PROOF] : [];
    if (!random.chance(0.04)) lines.push(["initLimit", "10"]);
    if (!random.chance(0.04)) lines.push(["syncLimit", "5"]);
    if (random.chance(0.1)) lines.push(["standaloneEnabled", "false"]);
    if (random.chance(0.2)) lines.push(["reconfigEnabled", "true"]);
    return lines.filter(([key], i) => lines.findIndex(([other]) => other === key) === i);
  }

  #members(): readonly Line[] {
    const random = this.#random;
    const count = random.between(1, VOTERS_MAX);
    const lines: Line[] = [];
    const hasClients = random.chance(0.5);
    for (let sid = 1; sid <= count; sid++) {
      const key = random.chance(0.02) ? `server.0${sid}` : `server.${sid}`;
      lines.push([key, random.chance(0.06) ? this.#oddMember(sid) : this.#member(sid, hasClients)]);
    }
    if (count >= 3 && random.chance(0.12)) {
      const half = Math.ceil(count / 2);
      const sids = Array.from({ length: count }, (_, i) => i + 1);
      lines.push(["group.1", sids.slice(0, half).join(":")], ["group.2", sids.slice(half).join(":")]);
      if (random.chance(0.5)) lines.push(["weight.1", random.pick(["1", "2", "0"])]);
      if (random.chance(0.2)) lines.pop();
    } else if (random.chance(0.03)) lines.push(["weight.1", "2"]);
    return lines;
  }

  #member(sid: number, hasClients: boolean): string {
    const random = this.#random;
    const [quorum, election] = [21000 + 10 * sid, 21001 + 10 * sid];
    const role = random.pick(["", "", ":participant", sid > 2 ? ":observer" : "", ":PARTICIPANT"]);
    const client = random.pick(["21810", "127.0.0.1:21810", "0.0.0.0:21810", "[::1]:21810"]);
    const extra = random.chance(0.06) ? `|127.0.0.2:${quorum}:${election}` : "";
    return `${random.pick(HOSTS)}:${quorum}:${election}${extra === "" ? role : ""}${extra}${hasClients ? `;${client}` : ""}`;
  }

  #oddMember(sid: number): string {
    const [quorum, election] = [21000 + 10 * sid, 21001 + 10 * sid];
    return this.#random.pick([
      `127.0.0.1`,
      `127.0.0.1:${quorum}`,
      `127.0.0.1:${quorum}:${quorum}`,
      `::1:${quorum}:${election}`,
      ` 127.0.0.1 : ${quorum} : ${election} `,
      `127.0.0.1:${quorum}:${election}:leader`,
      `127.0.0.1:${quorum}:${election}:observer:9`,
      `127.0.0.1:${quorum}:${election};`,
      `127.0.0.1:${quorum}:${election};x`,
      `127.0.0.1:${quorum}:${election};21810;21811`,
      `127.0.0.1:${quorum}:${election}; 21810`,
      `127.0.0.1:0:${election}`,
      `127.0.0.1:99999:${election}`,
      `127.0.0.1:${quorum}:${election}|`,
      `127.0.0.1:${quorum}:${election}:observer|127.0.0.2:${quorum}:${election}:observer`,
      `no-such-host.invalid:${quorum}:${election}`,
      `:${quorum}:${election}`,
      "",
    ]);
  }

  #setting(): Line {
    const random = this.#random;
    const samples = random.pick(KEY_SAMPLES);
    return [samples.key, this.#value(samples)];
  }

  #value({ valid, odd, invalid }: KeySamples): string {
    const random = this.#random;
    const roll = random.next();
    if (roll > 0.8 && invalid.length > 0) return random.pick(invalid);
    if (roll > 0.6 && odd.length > 0) return random.pick(odd);
    return random.pick(valid);
  }

  #doubled(lines: readonly Line[]): Line {
    const [key, value] = this.#random.pick(lines.length === 0 ? [["tickTime", "2000"] as const] : lines);
    return [key, this.#random.chance(0.5) ? value : this.#random.pick(["3000", "4000"])];
  }

  #myid(count: number): Readonly<Record<string, string>> {
    const random = this.#random;
    if (random.chance(0.04)) return {};
    const number = String(random.between(1, Math.max(1, count)));
    const text = random.chance(0.06)
      ? random.pick(["0", "9", "255", "256", "x", "", "-1", " 1 "])
      : `${number}${random.pick(["\n", "", "\r\n"])}`;
    return { "data/myid": text };
  }

  /** In the forms that Java's properties allow. */
  #text(lines: readonly Line[]): string {
    const random = this.#random;
    const written = lines.map(([key, value]) => {
      const form = random.next();
      if (form < 0.8) return `${key}=${value}`;
      if (form < 0.85) return `${key} = ${value}`;
      if (form < 0.88 && !key.includes(":")) return `${key}: ${value}`;
      if (form < 0.91) return `  ${key}=${value}`;
      // The name of the folder is put in for its mark, which stays in one piece.
      if (value.includes("{dir}")) return `${key}=${value}`;
      if (form < 0.94 && value.length > 2) return `${key}=${value.slice(0, 2)}\\\n    ${value.slice(2)}`;
      if (form < 0.96 && value !== "")
        return `${key}=\\u${value.charCodeAt(0).toString(16).padStart(4, "0")}${value.slice(1)}`;
      if (form < 0.98) return `${key}=${value}  `;
      return `${random.pick(["# a comment", "! a comment", "", "#tickTime=1"])}\n${key}=${value}`;
    });
    const end = random.chance(0.1) ? "" : "\n";
    return `${written.join(random.chance(0.03) ? "\r\n" : "\n")}${end}`;
  }
}
