import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverId } from "@zooid/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseServerConfig } from "../config.ts";
import { AUTHORITY, ONE, OTHER_AUTHORITY } from "../testing/certificates.ts";
import type { EnsembleOptions, QuorumPeerConfig } from "./ensemble-config.ts";
import type { SaidProtection } from "./handshake.ts";
import { LinkProtection } from "./link-protection.ts";
import type { ProtectedLink } from "./peer-connection.ts";
import { saidTls } from "./peer-security.ts";
import type { PeerTransport } from "./peer-transport.ts";

let directory: string;
let lines: string[];
let renewed: string[];
let links: { elections: ProtectedLink[]; quorum: ProtectedLink[] };
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-protection-"));
  lines = [];
  renewed = [];
  links = { elections: [], quorum: [] };
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const secretLine = (id: string, byte: number): string => `${id}:${Buffer.alloc(32, byte).toString("base64")}\n`;
const secretFile = (text: string): string => file("secret", text);
const pem = (ca = AUTHORITY) => ({ key: file("key", ONE.key), cert: file("cert", ONE.cert), ca: file("ca", ca) });

function optionsOf(more: Partial<EnsembleOptions> = {}): EnsembleOptions {
  const servers = [1, 2, 3].map((sid) => ({ sid, host: `zk-${sid}`, quorumPort: 1, electionPort: 2 }));
  return { sid: 1, servers, allowUnauthenticatedPeers: true, ...more };
}

function protectionOf(options: EnsembleOptions): {
  readonly protection: LinkProtection;
  readonly ensemble: QuorumPeerConfig;
} {
  const { ensemble } = parseServerConfig({ ensemble: options });
  if (ensemble === undefined) throw new Error("there is an ensemble");
  said = saidNow(ensemble);
  const warn = (text: string): void => void lines.push(text);
  return { ensemble, protection: new LinkProtection({ ensemble, links: () => links, tickMs: 1, warn }) };
}

/** Links say what holds when they are made: with the first options of a test. */
let said: SaidProtection;

function saidNow({ transport, security, secretMode, secrets }: QuorumPeerConfig): SaidProtection {
  return {
    ...saidTls(transport, security.current),
    needsProof: secrets.length > 0 && secretMode === "require",
  };
}

function link(sid: number, more: Partial<ProtectedLink> = {}): ProtectedLink {
  const renew = (): void => void renewed.push(`${sid}`);
  const plain = {
    isDialed: true,
    hasTls: false,
    hasProof: false,
    peerSaid: undefined,
    generation: 0,
    isTrustedBy: () => true,
    certificate: undefined,
  };
  return { sid: serverId(sid), ...plain, said, renew, ...more };
}

test("that this server is not listed is the one problem of its certificates", () => {
  const { key, cert, ca } = pem();
  const location = file("store.pem", ONE.key + ONE.cert);
  const stores = { keyStore: { location }, trustStore: { location: ca } };
  for (const tls of [{}, { peerTls: { key, cert, ca } }, { peerStores: stores }]) {
    const ensemble = optionsOf({ ...tls, sid: 9 });
    expect(() => parseServerConfig({ ensemble })).toThrow(
      /^myid is 9, and there is no line server\.9; listed: 1, 2, 3$/,
    );
  }
});

describe("a reload", () => {
  test("reads secrets and modes, and says what changed", () => {
    const { protection, ensemble } = protectionOf(optionsOf());
    expect(protection.reload(optionsOf())).toEqual({ changes: [], problems: [] });
    const offer = { peerSecretFile: secretFile(secretLine("a", 1)), peerSecretMode: "offer" as const };
    expect(protection.reload(optionsOf(offer)).changes).toEqual([
      "peer secrets a (before: none)",
      "peers' proofs offered (before: not asked for)",
    ]);
    expect(ensemble.secrets.map(({ id }) => id)).toEqual(["a"]);
    const { peerSecretFile } = offer;
    expect(protection.reload(optionsOf({ peerSecretFile })).changes).toEqual([
      "peers' proofs required (before: offered)",
    ]);
    secretFile(secretLine("b", 2) + secretLine("a", 3));
    expect(protection.reload(optionsOf({ peerSecretFile })).changes).toEqual([
      "peer secrets b, a (before: a)",
      "another peer secret under the id a",
    ]);
    expect(lines).toEqual([
      expect.stringMatching(/^zooid.peerSecretMode=offer: .* 0 of 0 have it now/),
      expect.stringMatching(/^links need proof of a secret now, and server 2, 3 is not connected/),
    ]);
  });

  test("reads certificates, authorities, and the modes of TLS", () => {
    const { protection, ensemble } = protectionOf(optionsOf());
    const peerTls = pem();
    expect(protection.reload(optionsOf({ peerTls, portUnification: true, dialsTls: false })).changes).toEqual([
      "peers with and without TLS, dialed without (before: peers without TLS)",
    ]);
    expect(protection.reload(optionsOf({ peerTls, portUnification: true })).changes).toEqual([
      "peers with and without TLS, dialed with it (before: peers with and without TLS, dialed without)",
    ]);
    expect(protection.reload(optionsOf({ peerTls })).changes).toEqual([
      "peers with TLS only (before: peers with and without TLS, dialed with it)",
    ]);
    expect(protection.reload(optionsOf({ peerTls })).changes).toEqual([]);
    const before = ensemble.transport;
    expect(protection.reload(optionsOf({ peerTls: pem(AUTHORITY + OTHER_AUTHORITY) })).changes).toEqual([
      "certificates or authorities of peers",
    ]);
    expect(ensemble.transport).not.toBe(before);
  });

  test("with a mistake changes nothing", () => {
    const { protection, ensemble } = protectionOf(optionsOf());
    const before = ensemble.security.current;
    for (const wrong of [
      { peerSecretFile: join(directory, "nowhere") },
      { peerSecretMode: "offer" as const },
      { portUnification: true },
      { allowUnauthenticatedPeers: false },
    ]) {
      expect(protection.reload(optionsOf(wrong)).problems).toHaveLength(1);
    }
    expect(ensemble.security.current).toBe(before);
  });

  test("to require is refused while a link has no proof, and names its server", () => {
    const peerSecretFile = secretFile(secretLine("a", 1));
    const { protection, ensemble } = protectionOf(optionsOf({ peerSecretFile, peerSecretMode: "offer" }));
    links.elections = [link(2, { hasProof: true }), link(3)];
    links.quorum = [link(3)];
    const { problems } = protection.reload(optionsOf({ peerSecretFile }));
    expect(problems).toEqual([expect.stringContaining("would cut off server 3,")]);
    expect(ensemble.secretMode).toBe("offer");
    links = { elections: [link(2, { hasProof: true })], quorum: [] };
    expect(protection.reload(optionsOf({ peerSecretFile })).problems).toEqual([]);
    expect(ensemble.secretMode).toBe("require");
  });

  test("to TLS only is refused while a link has none", () => {
    const peerTls = pem();
    const { protection } = protectionOf(optionsOf({ peerTls, portUnification: true }));
    links.quorum = [link(2, { hasTls: true }), link(3, { hasTls: false })];
    expect(protection.reload(optionsOf({ peerTls })).problems).toEqual([
      expect.stringContaining("links without TLS to server 3 would be cut off"),
    ]);
    links.quorum = [link(2, { hasTls: true })];
    expect(protection.reload(optionsOf({ peerTls })).problems).toEqual([]);
  });

  test.each([
    ["a secret", "links need proof of a secret now"],
    ["TLS", "links need TLS now"],
    ["to be dialed with TLS", "this server connects with TLS now"],
  ])("after which the others need %s names the servers that were not connected", (need, says) => {
    const peerSecretFile = secretFile(secretLine("a", 1));
    const both = { peerTls: pem(), portUnification: true };
    const [before, after] = {
      "a secret": [{ peerSecretFile, peerSecretMode: "offer" as const }, { peerSecretFile }],
      TLS: [both, { peerTls: pem() }],
      "to be dialed with TLS": [{ ...both, dialsTls: false }, both],
    }[need] as [Partial<EnsembleOptions>, Partial<EnsembleOptions>];
    const named = (): readonly string[] => lines.filter((line) => line.startsWith(says));
    const observers = [1, 4].map((sid) => ({
      sid,
      host: `zk-${sid}`,
      quorumPort: 1,
      electionPort: 2,
      isObserver: true,
    }));
    for (const [hasObservers, connected, expected] of [
      [false, [2, 3], undefined],
      [false, [2], "server 3 is not connected"],
      [false, [], "server 2, 3 is not connected"],
      // Observers are not connected with each other.
      [true, [2, 3], undefined],
    ] as const) {
      lines = [];
      const servers = [...optionsOf().servers.slice(hasObservers ? 1 : 0), ...(hasObservers ? observers : [])];
      const { protection } = protectionOf(optionsOf({ ...before, servers }));
      const properties = { hasProof: true, hasTls: need === "TLS", takesTls: true };
      links.elections = connected.map((sid) => link(sid, properties));
      expect(protection.reload(optionsOf({ ...after, servers })).problems).toEqual([]);
      expect(named()).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
      lines = [];
      // What does not ask for more names none.
      expect(protection.reload(optionsOf({ ...after, servers })).changes).toEqual([]);
      expect(named()).toEqual([]);
    }
  });

  describe("that takes TLS or a secret from the others goes by the documented stages:", () => {
    const stages = (peerTls: ReturnType<typeof pem>): readonly Partial<EnsembleOptions>[] => [
      {},
      { peerTls, portUnification: true, dialsTls: false },
      { peerTls, portUnification: true, dialsTls: true },
      { peerTls },
    ];
    test.each([
      ["TLS only to none", 3, 0, true, "links with TLS to server 2 would be cut off: first set portUnification=true"],
      ["TLS only to links that are dialed without", 3, 1, true, "links with TLS to server 2 would be cut off"],
      ["dialed with TLS to none", 2, 0, true, "links with TLS to server 2 would be cut off: first set sslQuorum=false"],
      ["a server that still dials with TLS", 1, 0, true, "links with TLS to server 2 would be cut off"],
      ["none to links that are dialed with TLS", 0, 2, false, "links with TLS would not be accepted by server 2"],
    ])("%s is refused", (_, from, to, hasTls, problem) => {
      const all = stages(pem());
      const { protection, ensemble } = protectionOf(optionsOf(all[from]));
      links.quorum = [link(2, { isDialed: false, hasTls })];
      const before = ensemble.security.current;
      expect(protection.reload(optionsOf(all[to])).problems).toEqual([expect.stringContaining(problem)]);
      expect(ensemble.security.current).toBe(before);
    });

    test("each change is accepted while there are no links", () => {
      const all = [...stages(pem()), { peerSecretFile: secretFile(secretLine("a", 1)) }];
      for (const before of all) {
        for (const after of all) {
          const { protection } = protectionOf(optionsOf(before));
          expect(protection.reload(optionsOf(after)).problems).toEqual([]);
        }
      }
    });

    test("dialing with TLS is refused while a server takes none, and passes where all take it or do not say", () => {
      const [, dialsPlain, dialsTls] = stages(pem());
      const { protection } = protectionOf(optionsOf(dialsPlain));
      const [takesBoth, takesNone] = [true, false].map((takesTls) => ({
        peerSaid: { takesTls, takesPlain: true, dialsTls: false, needsProof: false },
      }));
      links.quorum = [link(2, takesBoth)];
      links.elections = [link(2, takesBoth), link(3, takesNone)];
      expect(protection.reload(optionsOf(dialsTls)).problems).toEqual([
        expect.stringContaining("links with TLS would not be accepted by server 3, which takes none yet"),
      ]);
      links.elections = [link(2, takesBoth), link(3)];
      expect(protection.reload(optionsOf(dialsTls)).problems).toEqual([]);
    });

    test("links on which a server said that it takes no TLS are made again once it does", () => {
      const [none, dialsPlain] = stages(pem());
      const { protection } = protectionOf(optionsOf(none));
      links.elections = [link(2), link(3)];
      expect(protection.reload(optionsOf(dialsPlain)).problems).toEqual([]);
      expect(renewed).toEqual(["2", "3"]);
    });

    test("each stage passes, and links are made again without TLS before it is turned off", () => {
      const [none, dialsPlain, dialsTls, only] = stages(pem());
      const { protection } = protectionOf(optionsOf(only));
      links.quorum = [link(2, { hasTls: true }), link(3, { hasTls: true, isDialed: false })];
      links.elections = [link(3, { hasTls: true })];
      expect(protection.reload(optionsOf(dialsTls)).problems).toEqual([]);
      // What it takes has changed.
      expect(renewed).toEqual(["3"]);
      links.elections = [link(3, { hasTls: true, generation: 1 })];
      expect(protection.reload(optionsOf(dialsPlain)).problems).toEqual([]);
      expect(renewed).toEqual(["3", "3", "2"]);
      links = { elections: [link(3, { generation: 2 })], quorum: [link(2, { generation: 2 })] };
      expect(protection.reload(optionsOf(none)).problems).toEqual([]);
      expect(renewed).toEqual(["3", "3", "2", "3"]);
    });

    test.each<[string, number, number, Partial<SaidProtection>, string]>([
      ["dialing without TLS", 2, 1, { takesPlain: false }, "server 3, which takes TLS only"],
      ["TLS only", 2, 3, { dialsTls: false }, "server 3, which connects without it"],
      ["taking no TLS", 1, 0, { dialsTls: true }, "server 3, which connects with it"],
    ])("%s is refused where a server says that it cannot go along", (_, from, to, differs, problem) => {
      const all = stages(pem());
      const { protection } = protectionOf(optionsOf(all[from]));
      const goesAlong = { takesTls: true, takesPlain: true, dialsTls: to > 1, needsProof: false };
      const hasTls = to === 3;
      links.elections = [
        link(2, { hasTls, peerSaid: goesAlong }),
        link(3, { hasTls, peerSaid: { ...goesAlong, ...differs } }),
      ];
      expect(protection.reload(optionsOf(all[to])).problems).toEqual([expect.stringContaining(problem)]);
      links.elections = [link(2, { hasTls, peerSaid: goesAlong }), link(3, { hasTls })];
      expect(protection.reload(optionsOf(all[to])).problems).toEqual([]);
    });

    test("an offered secret is not removed while a server requires one", () => {
      const offer = { peerSecretFile: secretFile(secretLine("a", 1)), peerSecretMode: "offer" as const };
      const { protection } = protectionOf(optionsOf(offer));
      const peerSaid = { takesTls: false, takesPlain: true, dialsTls: false, needsProof: true };
      links.elections = [link(2, { hasProof: true }), link(3, { hasProof: true, peerSaid })];
      expect(protection.reload(optionsOf()).problems).toEqual([
        expect.stringContaining("server 3, which requires a secret, would be cut off"),
      ]);
      links.elections = [link(2, { hasProof: true })];
      expect(protection.reload(optionsOf()).problems).toEqual([]);
    });

    test("links on which a server said something else of its links are made again", () => {
      const peerSecretFile = secretFile(secretLine("a", 1));
      const { protection } = protectionOf(optionsOf({ peerSecretFile, peerSecretMode: "offer" }));
      links.elections = [link(2, { hasProof: true })];
      expect(protection.reload(optionsOf({ peerSecretFile })).problems).toEqual([]);
      expect(renewed).toEqual(["2"]);
    });

    test("a secret that is required is offered before it is removed", () => {
      const peerSecretFile = secretFile(secretLine("a", 1));
      const { protection } = protectionOf(optionsOf({ peerSecretFile }));
      links.quorum = [link(2, { hasProof: true })];
      expect(protection.reload(optionsOf()).problems).toEqual([
        expect.stringContaining("the links to server 2, which may require a secret, would be cut off"),
      ]);
      expect(protection.reload(optionsOf({ peerSecretFile, peerSecretMode: "offer" })).problems).toEqual([]);
      expect(protection.reload(optionsOf()).problems).toEqual([]);
    });
  });

  test("to secrets of which none is in force is refused", () => {
    const peerSecretFile = secretFile(secretLine("a", 1));
    const { protection } = protectionOf(optionsOf({ peerSecretFile }));
    secretFile(secretLine("b", 2));
    links.elections = [link(2, { hasProof: true }), link(3, { hasProof: true })];
    expect(protection.reload(optionsOf({ peerSecretFile })).problems).toEqual([
      expect.stringContaining("no secret in common with the one in force"),
    ]);
  });

  test("to other secrets of a server that was away meanwhile is accepted, and names those that were not asked", () => {
    const peerSecretFile = secretFile(secretLine("a", 1));
    const { protection } = protectionOf(optionsOf({ peerSecretFile }));
    secretFile(secretLine("b", 2));
    expect(protection.reload(optionsOf({ peerSecretFile })).changes).toEqual(["peer secrets b (before: a)"]);
    expect(lines).toEqual([
      expect.stringMatching(/^links need proof of a secret now, and server 2, 3 is not connected/),
    ]);
  });

  test("to authorities that do not know a connected server's is refused, and names it", () => {
    const { protection, ensemble } = protectionOf(optionsOf({ peerTls: pem(AUTHORITY + OTHER_AUTHORITY) }));
    const before = ensemble.transport;
    const isTrustedBy = (transport: PeerTransport): boolean => transport === before;
    links.elections = [link(2, { hasTls: true }), link(3, { hasTls: true, isTrustedBy })];
    expect(protection.reload(optionsOf({ peerTls: pem(OTHER_AUTHORITY) })).problems).toEqual([
      expect.stringMatching(/^no authority that is trusted now has issued the certificate of server 3, /),
    ]);
    expect(ensemble.transport).toBe(before);
    links.elections = [link(2, { hasTls: true })];
    expect(protection.reload(optionsOf({ peerTls: pem(OTHER_AUTHORITY) })).problems).toEqual([]);
    expect(lines).toEqual([
      expect.stringMatching(/^an authority is not trusted any more, and server 3 is not connected/),
    ]);
  });

  test("to another certificate makes the links of elections again that showed the one before", () => {
    const { protection, ensemble } = protectionOf(optionsOf({ peerTls: pem() }));
    const { certificate } = ensemble.transport;
    expect(certificate).toMatch(/^[0-9A-F:]{95}$/);
    links.elections = [
      link(2, { hasTls: true, certificate }),
      link(3, { hasTls: true, certificate: "an earlier one" }),
    ];
    links.quorum = [link(3, { hasTls: true, certificate: "an earlier one" })];
    protection.renew();
    expect(renewed).toEqual(["3"]);
  });

  test("makes the links again that lack what it brings: those of a leader's learners one after the other", () => {
    const { protection } = protectionOf(optionsOf());
    links.elections = [link(2), link(3, { hasProof: true })];
    links.quorum = [4, 5, 6].map((sid) => link(sid, { isDialed: false, hasProof: sid === 5 }));
    protection.reload(optionsOf({ peerSecretFile: secretFile(secretLine("a", 1)), peerSecretMode: "offer" }));
    expect(renewed).toEqual(["2", "4"]);
    links.elections = [];
    // Server 4 is away: the next one waits until it is back.
    const [, five, six] = links.quorum as [ProtectedLink, ProtectedLink, ProtectedLink];
    links.quorum = [five, six];
    protection.renew();
    expect(renewed).toEqual(["2", "4"]);
    links.quorum = [five, six, link(4, { isDialed: false, generation: 1 })];
    protection.renew();
    protection.renew();
    expect(renewed).toEqual(["2", "4", "6", "6"]);
    protection.stop();
  });

  test("does not wait for a learner that stays away", () => {
    const { protection } = protectionOf(optionsOf());
    links.quorum = [link(4, { isDialed: false }), link(5, { isDialed: false })];
    protection.reload(optionsOf({ peerSecretFile: secretFile(secretLine("a", 1)), peerSecretMode: "offer" }));
    links.quorum = links.quorum.slice(1);
    for (let tick = 1; tick <= 10; tick++) {
      expect(renewed).toEqual(["4"]);
      protection.renew();
    }
    expect(renewed).toEqual(["4", "5"]);
  });

  test("makes a link again that was being made meanwhile, and none that it brought", () => {
    const { protection } = protectionOf(optionsOf());
    protection.reload(optionsOf({ peerSecretFile: secretFile(secretLine("a", 1)), peerSecretMode: "offer" }));
    links.elections = [link(2), link(3, { generation: 1 })];
    links.quorum = [link(4), link(5, { generation: 1 })];
    protection.renew();
    expect(renewed).toEqual(["2", "4"]);
  });
});

test("links are counted, and a server that takes unprotected ones warns", () => {
  const peerSecretFile = secretFile(secretLine("a", 1));
  const options = optionsOf({ peerSecretFile, peerSecretMode: "offer", peerTls: pem(), portUnification: true });
  const { protection } = protectionOf(options);
  links.elections = [link(2, { hasProof: true }), link(3, { hasTls: true, hasProof: true })];
  links.quorum = [link(3)];
  expect(protection.counts).toEqual({ all: 3, tls: 1, proof: 2 });
  protection.warn();
  expect(lines).toEqual([
    expect.stringContaining("2 of 3 have it now; set it to require"),
    expect.stringContaining("1 of 3 have it now; set it to false"),
  ]);
  const quiet = protectionOf(optionsOf({ peerSecretFile }));
  quiet.protection.warn();
  expect(lines).toHaveLength(2);
});

test("offered secrets let a server start beyond loopback, and ports that take both do not", () => {
  const far = { allowUnauthenticatedPeers: false };
  const offer = { peerSecretFile: secretFile(secretLine("a", 1)), peerSecretMode: "offer" as const };
  expect(() => protectionOf(optionsOf({ ...far, ...offer }))).not.toThrow();
  expect(() => protectionOf(optionsOf({ ...far, peerTls: pem(), portUnification: true }))).toThrow(
    "portUnification=true takes links without TLS",
  );
});
