import fc from "fast-check";
import { expect, test } from "vitest";
import { parseIpAddress } from "../addresses/ip-address.ts";
import { may } from "./acl.ts";
import type { AccessRules, Acl, AclEntry, Identity } from "./acl-entry.ts";

const RULES: AccessRules = {
  skipAcl: false,
  schemes: new Map([
    ["ip", { isRange: true }],
    ["digest", {}],
    ["sasl", { masterId: "super", everyoneId: "anyone" }],
    ["x509", { masterId: "c" }],
  ]),
};

/** The rules in their simplest form, regardless of cost. */
function naiveMay(identities: readonly Identity[], acl: Acl, need: number): boolean {
  if (acl.length === 0 || identities.some(({ scheme }) => scheme === "super")) return true;
  return acl.some((entry) => {
    if ((entry.perms & need) === 0) return false;
    if (entry.scheme === "world") return entry.id === "anyone";
    return identities.some(({ scheme, id }) => scheme === entry.scheme && naiveCovers(scheme, id, entry.id));
  });
}

function naiveCovers(scheme: string, identityId: string, entryId: string): boolean {
  if (scheme === "ip") return naiveIsInRange(identityId, entryId);
  if (scheme === "sasl" && (identityId === "super" || entryId === "anyone")) return true;
  if (scheme === "x509" && identityId === "c") return true;
  return ["digest", "sasl", "x509"].includes(scheme) && identityId === entryId;
}

function naiveIsInRange(addressText: string, rangeText: string): boolean {
  const [first = "", bits] = rangeText.split("/");
  const [address, range] = [bitsOf(addressText), bitsOf(first)];
  if (address === undefined || range === undefined || address.length !== range.length) return false;
  const count = bits === undefined ? range.length : Number(bits);
  return count <= range.length && address.slice(0, count) === range.slice(0, count);
}

const bitsOf = (text: string): string | undefined => {
  const bytes = parseIpAddress(text);
  return bytes && Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
};

// Few values, so that many match; addresses that lie near each other, and at the ends.
const octet = fc.constantFrom(0, 1, 127, 128, 254, 255);
const group = fc.constantFrom("0", "1", "7fff", "8000", "ffff");
const address = fc.oneof(
  fc.tuple(octet, octet, octet, octet).map((parts) => parts.join(".")),
  fc.array(group, { minLength: 8, maxLength: 8 }).map((parts) => parts.join(":")),
);
const range = fc.oneof(
  address,
  fc
    .tuple(address, fc.nat({ max: 128 }))
    .map(([text, bits]) => `${text}/${text.includes(":") ? bits : Math.min(bits, 32)}`),
  fc.constantFrom("nonsense", "1.2.3.4/33", "::/129"),
);
const name = fc.constantFrom("a", "b", "c", "super", "anyone");
const scheme = fc.constantFrom("world", "digest", "sasl", "x509", "gone");
const perms = fc.oneof(fc.constantFrom(1, 2, 4, 8, 16), fc.integer());
const entry: fc.Arbitrary<AclEntry> = fc.oneof(
  fc.record({ perms, scheme, id: name }),
  fc.record({ perms, scheme: fc.constant("ip"), id: range }),
);
const identity: fc.Arbitrary<Identity> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ scheme, id: name }) },
  { weight: 8, arbitrary: fc.record({ scheme: fc.constant("ip"), id: address }) },
  { weight: 1, arbitrary: fc.constant({ scheme: "super", id: "" }) },
);

test("a check says what the rules say, however long the list is, and every time", () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 40 }),
      fc.array(fc.array(identity, { maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      fc.array(fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 31 })), { maxLength: 30 }),
      (acl, connections, checks) => {
        for (const [i, need] of checks) {
          const identities = connections[i % connections.length] ?? [];
          expect(may(RULES, identities, acl, need)).toBe(naiveMay(identities, acl, need));
        }
      },
    ),
    { numRuns: 2000 },
  );
});
