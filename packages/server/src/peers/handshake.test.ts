import { type LevelRange, serverId } from "@zooid/model";
import { type EnvelopeMessage, EnvelopeWriter, envelopeBytesMax } from "@zooid/peer-protocol";
import { describe, expect, test } from "vitest";
import { Handshake, type HandshakeConfig, type PeerIdentity } from "./handshake.ts";
import { peerSecret } from "./peer-secret.ts";

function config(sid: number, more: Partial<HandshakeConfig> = {}): HandshakeConfig {
  return {
    sid: serverId(sid),
    purpose: "quorum",
    electionAlg: 3,
    frameBytesMax: 1000,
    secrets: [],
    secretMode: "require",
    tls: { takesTls: false, takesPlain: true, dialsTls: false },
    host: () => `zk-${sid}`,
    isListed: (other) => other <= 3,
    identity: () => ({ ensembleId: "e", startId: "", bootCount: sid * 10, history: "ensemble" }),
    admit: () => undefined,
    isChangeable: () => false,
    isFileInForce: () => true,
    ...more,
  };
}

const secret = (id: string, seed = 1) => peerSecret(id, Buffer.alloc(32, seed));

/** One message in transit, which an attacker may change. */
type Meddler = (message: EnvelopeMessage, from: "dialer" | "listener") => EnvelopeMessage | undefined;

function bodyOf(message: EnvelopeMessage): Buffer {
  const body = Buffer.alloc(envelopeBytesMax(message));
  return body.subarray(0, new EnvelopeWriter().write(body, 0, message));
}

/** Lets a dialer (2) and a listener (1) talk until neither has anything to say. */
function shake(
  options: { dialer?: Partial<HandshakeConfig>; listener?: Partial<HandshakeConfig>; to?: number } = {},
  meddle: Meddler = (message) => message,
): { dialer: PeerIdentity | string | undefined; listener: PeerIdentity | string | undefined; said: string[] } {
  const sides = {
    dialer: new Handshake(config(2, options.dialer), serverId(options.to ?? 1)),
    listener: new Handshake(config(1, options.listener), undefined),
  };
  const result: ReturnType<typeof shake> = { dialer: undefined, listener: undefined, said: [] };
  const waiting: { from: "dialer" | "listener"; message: EnvelopeMessage }[] = [];
  const say = (from: "dialer" | "listener", message: EnvelopeMessage): void => {
    result.said.push(`${from}: ${message.kind}`);
    const changed = meddle(message, from);
    if (changed !== undefined) waiting.push({ from, message: changed });
  };
  say("dialer", sides.dialer.begin());
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const to = next.from === "dialer" ? "listener" : "dialer";
    try {
      const peer = sides[to].receive(next.message, bodyOf(next.message), (reply) => say(to, reply));
      if (peer !== undefined) result[to] = peer;
    } catch (error) {
      result[to] = error instanceof Error ? error.message : String(error);
      break;
    }
  }
  return result;
}

/** Makes the other side a server of version 0.1.0. */
const asEarlier =
  (side: "dialer" | "listener"): Meddler =>
  (message, from) =>
    message.kind === "hello" && from === side
      ? { ...message, features: message.features.filter((feature) => feature !== 32) }
      : message;

test("servers with and without reconfigEnabled connect", () => {
  const { dialer, listener } = shake({ dialer: { isChangeable: () => true } });
  expect([dialer, listener]).toEqual([expect.objectContaining({ sid: 1 }), expect.objectContaining({ sid: 2 })]);
});

describe("a server of version 0.1.0", () => {
  test("connects while the list of the files is in force", () => {
    expect(shake({}, asEarlier("dialer")).listener).toMatchObject({ sid: 2 });
    expect(shake({}, asEarlier("listener")).dialer).toMatchObject({ sid: 1 });
  });

  test("connects to servers with reconfigEnabled, if it has that itself", () => {
    const changes = { isChangeable: () => true, isFileInForce: () => false };
    expect(shake({ dialer: changes, listener: changes }, asEarlier("dialer")).listener).toMatchObject({ sid: 2 });
  });

  test("is refused where reconfigEnabled differs", () => {
    const { listener } = shake({ dialer: { isChangeable: () => true } }, asEarlier("dialer"));
    expect(listener).toMatch("reconfigEnabled is false at server 1 and true at the other");
  });

  test("is refused once the members are others than those of the files, since it counts by its file", () => {
    const { listener } = shake({ listener: { isFileInForce: () => false } }, asEarlier("dialer"));
    expect(listener).toMatch("server 2 is of a version that counts by its own list");
  });
});

describe("feature levels", () => {
  const V1: LevelRange = { lowest: 1, highest: 1 };
  const V2: LevelRange = { lowest: 1, highest: 2 };
  const V3: LevelRange = { lowest: 2, highest: 3 };
  const V4: LevelRange = { lowest: 3, highest: 4 };
  const at = (levels: LevelRange, level: number): Partial<HandshakeConfig> => ({
    identity: () => ({ ensembleId: "e", startId: "", bootCount: 1, history: "ensemble", levels, level }),
  });

  test.each<[string, LevelRange, number, LevelRange, number]>([
    ["of one version", V1, 1, V1, 1],
    ["of two versions, at the level of both", V1, 1, V2, 1],
    ["of which one has no history yet", V2, 0, V3, 2],
    ["without a history", V2, 0, V3, 0],
    ["of which one has not heard of a raise", V3, 2, V3, 3],
  ])("servers %s connect", (_, levels, level, others, other) => {
    const { dialer, listener } = shake({ dialer: at(levels, level), listener: at(others, other) });
    expect([dialer, listener]).toMatchObject([{ sid: 1 }, { sid: 2 }]);
  });

  test.each<[string, LevelRange, number, LevelRange, number, string]>([
    [
      "that the dialer's version does not know",
      ...([V1, 1, V2, 2] as const),
      "server 2 knows feature level 1, and the ensemble of server 1 has feature level 2, which later versions know",
    ],
    [
      "that the listener's version does not know",
      ...([V2, 2, V1, 1] as const),
      "the ensemble of server 2 has feature level 2, and this version knows level 1; a version that knows level 2 is needed: a level that was raised is never lowered",
    ],
    [
      "that the dialer's version does not know any more",
      ...([V3, 0, V2, 1] as const),
      "server 2 knows feature levels 2 to 3, and the ensemble of server 1 has feature level 1, which versions from 0.1.0 on know",
    ],
    [
      "that the two versions have in common",
      ...([V4, 0, V1, 0] as const),
      "server 2 knows feature levels 3 to 4, and server 1 none of them: their versions are too far apart",
    ],
  ])("a link is refused for a level %s", (_, levels, level, others, other, sentence) => {
    const { listener } = shake({ dialer: at(levels, level), listener: at(others, other) });
    expect(listener).toBe(sentence);
  });

  test("the dialer refuses, too, where the listener does not compare levels", () => {
    const { dialer } = shake({ dialer: at(V1, 1), listener: at(V1, 1) }, (message, from) =>
      from === "listener" && message.kind === "hello" ? { ...message, levels: V2, level: 2 } : message,
    );
    expect(dialer).toMatch("the ensemble of server 1 has feature level 2, and this version knows level 1");
  });
});

test("without secrets two hellos are enough", () => {
  const { dialer, listener, said } = shake();
  expect(dialer).toMatchObject({
    sid: 1,
    bootCount: 10,
    ensembleId: "e",
    version: 1,
    frameBytesMax: 1000,
    host: "zk-1",
  });
  expect(listener).toMatchObject({ sid: 2, bootCount: 20 });
  expect(said).toEqual(["dialer: hello", "listener: hello"]);
});

test("with a secret both prove it before either is known", () => {
  const secrets = [secret("a")];
  const { dialer, listener, said } = shake({ dialer: { secrets }, listener: { secrets } });
  expect([dialer, listener]).toMatchObject([{ sid: 1 }, { sid: 2 }]);
  expect(said).toEqual(["dialer: hello", "listener: hello", "listener: auth-proof", "dialer: auth-proof"]);
});

test("a new server has no ensemble yet, and goes with any", () => {
  const identity = () => ({ ensembleId: "", startId: "", bootCount: 1, history: "none" as const });
  expect(shake({ dialer: { identity } }).listener).toMatchObject({ sid: 2 });
  expect(shake({ listener: { identity } }).dialer).toMatchObject({ sid: 1 });
});

test.each(["none", "own", "attempt", "ensemble"] as const)("each side says what is on its disk: %s", (history) => {
  const identity = () => ({ ensembleId: "", startId: "", bootCount: 1, history });
  expect(shake({ dialer: { identity } }).listener).toMatchObject({ history });
  expect(shake({ listener: { identity } }).dialer).toMatchObject({ history });
});

test("a server of an earlier version says nothing of its disk, and counts as one with data", () => {
  const identity = () => ({ ensembleId: "", startId: "", bootCount: 1, history: "none" as const });
  const { listener } = shake({ dialer: { identity } }, (message, from) =>
    from === "dialer" && message.kind === "hello" ? { ...message, features: [] } : message,
  );
  expect(listener).toMatchObject({ history: "ensemble" });
});

test("a server that holds the epoch of an attempt, and nothing else, goes with any", () => {
  const identity = () => ({ ensembleId: "f", startId: "", bootCount: 1, history: "attempt" as const });
  expect(shake({ dialer: { identity } }).listener).toMatchObject({ sid: 2, ensembleId: "f" });
  expect(shake({ listener: { identity } }).dialer).toMatchObject({ sid: 1, ensembleId: "f" });
});

describe("secrets are changed one server after another", () => {
  const [old, next] = [secret("old", 1), secret("next", 2)];
  test.each([
    ["the old one on both", [old], [old]],
    ["the new one known to one", [old, next], [old]],
    ["the new one known to both", [old, next], [old, next]],
    ["the new one used by one", [next, old], [old, next]],
    ["the old one dropped by one", [next], [next, old]],
  ])("%s", (_, dialer, listener) => {
    expect(shake({ dialer: { secrets: dialer }, listener: { secrets: listener } }).listener).toMatchObject({ sid: 2 });
    expect(shake({ dialer: { secrets: listener }, listener: { secrets: dialer } }).dialer).toMatchObject({ sid: 1 });
  });
});

describe("proof that is offered", () => {
  const offer = (...ids: readonly string[]) => ({ secrets: ids.map((id) => secret(id)), secretMode: "offer" as const });
  const none = { secrets: [] };
  const both = (one: Partial<HandshakeConfig>, other: Partial<HandshakeConfig>) =>
    [shake({ dialer: one, listener: other }), shake({ dialer: other, listener: one })] as const;

  test.each<[string, Partial<HandshakeConfig>, Partial<HandshakeConfig>, number]>([
    ["no secret", offer("a"), none, 2],
    ["another secret", offer("a"), offer("b"), 2],
    ["the same one", offer("a"), offer("a"), 4],
    ["one of several", offer("a", "b"), offer("b"), 4],
    ["the same one, which it requires", offer("a"), { secrets: [secret("a")] }, 4],
  ])("connects to a server with %s", (_, one, other, messageCount) => {
    for (const { dialer, listener, said } of both(one, other)) {
      expect([dialer, listener]).toMatchObject([{ sid: 1 }, { sid: 2 }]);
      expect(said).toHaveLength(messageCount);
    }
  });

  test.each<[string, Partial<HandshakeConfig>, Partial<HandshakeConfig>, string]>([
    ["requires another one", offer("a"), { secrets: [secret("b")] }, "no secret in common"],
    ["requires one, where this server has none", none, { secrets: [secret("b")] }, "zooid.peerSecretFile"],
    ["has another one under its name", offer("a"), { secrets: [secret("a", 2)], secretMode: "offer" }, "is wrong"],
  ])("is refused before the link is open by a server that %s", (_, one, other, text) => {
    for (const { dialer, listener } of both(one, other)) {
      expect([dialer, listener].find((result) => typeof result === "string")).toContain(text);
      expect([dialer, listener].filter((result) => typeof result === "object")).toEqual([]);
    }
  });

  test("is missing where an attacker strips it, and is refused there by a server that requires it", () => {
    const strip: Meddler = (message) => (message.kind === "hello" ? { ...message, keyIds: [] } : message);
    expect(shake({ dialer: offer("a"), listener: offer("a") }, strip).said).toHaveLength(2);
    const required = { secrets: [secret("a")] };
    expect(shake({ dialer: required, listener: required }, strip).listener).toContain("asks for proof of a secret");
  });
});

describe("refused", () => {
  test.each<[string, Parameters<typeof shake>[0], "dialer" | "listener", string]>([
    [
      "a link for the other port",
      { dialer: { purpose: "election" } },
      "listener",
      "a link for election came to the quorum port",
    ],
    ["another server than was dialed", { to: 3 }, "dialer", "at the address of server 3 is server 1"],
    [
      "one that is not listed",
      { listener: { isListed: () => false } },
      "listener",
      "server 2 is not listed at server 1",
    ],
    ["our own id", { dialer: { sid: serverId(1) } }, "listener", "says that it is server 1 too (myid)"],
    ["another election", { dialer: { electionAlg: 0 } }, "listener", "electionAlg is 3 at server 1 and 0 at the other"],
    [
      "another ensemble",
      { dialer: { identity: () => ({ ensembleId: "f", startId: "", bootCount: 1, history: "ensemble" }) } },
      "listener",
      "belongs to the ensemble e, the other to f",
    ],
    ["no secret", { listener: { secrets: [secret("a")] } }, "listener", "server 1 asks for proof of a secret"],
    ["a secret that we have not", { dialer: { secrets: [secret("a")] } }, "listener", "server 1 has no secret"],
    [
      "no common secret",
      { dialer: { secrets: [secret("a")] }, listener: { secrets: [secret("b")] } },
      "listener",
      "no secret in common",
    ],
    [
      "another secret of the same name",
      { dialer: { secrets: [secret("a", 1)] }, listener: { secrets: [secret("a", 2)] } },
      "dialer",
      "the proof of the shared secret is wrong",
    ],
    [
      "what speaks against it besides",
      { listener: { admit: () => ({ reason: "duplicate", text: "later" }) } },
      "listener",
      "later",
    ],
  ])("%s", (_, options, side, text) => {
    expect(shake(options)[side]).toEqual(expect.stringContaining(text));
  });

  test("versions that do not meet", () => {
    const result = shake({}, (message) =>
      message.kind === "hello" ? { ...message, versionMin: 7, versionMax: 9 } : message,
    );
    expect(result.listener).toBe("this server speaks versions 1 to 1, the other 7 to 9");
  });
});

describe("in between, with a secret", () => {
  const secrets = [secret("a")];
  const both = { dialer: { secrets }, listener: { secrets } };

  test.each<[string, Meddler, "dialer" | "listener"]>([
    [
      "a changed hello of the dialer",
      (message, from) => (from === "dialer" && message.kind === "hello" ? { ...message, bootCount: 99 } : message),
      "dialer",
    ],
    [
      "a changed hello of the listener",
      (message, from) => (from === "listener" && message.kind === "hello" ? { ...message, ensembleId: "" } : message),
      "dialer",
    ],
    [
      "a changed proof",
      (message) => (message.kind === "auth-proof" ? { ...message, mac: message.mac.map((byte) => byte ^ 1) } : message),
      "dialer",
    ],
    [
      "a short proof",
      (message) => (message.kind === "auth-proof" ? { ...message, mac: message.mac.subarray(1) } : message),
      "dialer",
    ],
    [
      "a proof with an id that is not known",
      (message) => (message.kind === "auth-proof" ? { ...message, keyId: "b" } : message),
      "dialer",
    ],
  ])("%s is found", (_, meddle, side) => {
    expect(shake(both, meddle)[side]).toBe("the proof of the shared secret is wrong");
  });

  test("a proof cannot be reflected to its sender", () => {
    let proof: EnvelopeMessage | undefined;
    const result = shake(both, (message, from) => {
      if (message.kind !== "auth-proof") return message;
      if (from === "listener") {
        proof = message;
        return message;
      }
      return proof;
    });
    expect(result.listener).toBe("the proof of the shared secret is wrong");
  });

  test("a whole handshake cannot be replayed", () => {
    const heard: EnvelopeMessage[] = [];
    shake(both, (message, from) => {
      if (from === "dialer") heard.push(message);
      return message;
    });
    const replayed = shake(both, (message, from) => {
      if (from === "dialer") return heard.shift();
      return message.kind === "auth-proof" ? undefined : message;
    });
    expect(replayed.listener).toBe("the proof of the shared secret is wrong");
  });

  test("a server that leaves the proof out is not authenticated", () => {
    const result = shake(both, (message, from) =>
      from === "dialer" && message.kind === "auth-proof" ? undefined : message,
    );
    expect(result.listener).toBeUndefined();
    const other = shake(both, (message) => (message.kind === "auth-proof" ? { kind: "sync", sequence: 1 } : message));
    expect(other.dialer).toBe("sync came before the handshake was over");
  });
});
