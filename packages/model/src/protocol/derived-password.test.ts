import fc from "fast-check";
import { expect, test } from "vitest";
import { derivedPassword } from "./derived-password.ts";

function passwordOf(id: bigint): Buffer {
  return Buffer.from(derivedPassword(Number(BigInt.asIntN(32, id >> 32n)), Number(BigInt.asIntN(32, id))));
}

test.each([
  [0x1_0000_1e99_a500_00n, "b121fe56ea8f3ab6774ef473439bdafa"],
  [0x64a2_0690_60f1_0000n, "7562bf165e3b63a8db863fc0d775bbbf"],
])("the password of session 0x%s is the one that Apache's server answered with", (id, password) => {
  expect(passwordOf(id).toString("hex")).toBe(password);
});

test("it is what Java's generator draws, for any id", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
      expect(passwordOf(id)).toEqual(drawnByJava(id));
    }),
  );
});

/** As Java's documentation describes it, in whole numbers of any size. */
function drawnByJava(id: bigint): Buffer {
  const bytes = Buffer.alloc(16);
  let state = BigInt.asUintN(48, id ^ 0xb341_5c00n ^ 0x5_deec_e66dn);
  for (let at = 0; at < 16; at += 4) {
    state = BigInt.asUintN(48, state * 0x5_deec_e66dn + 0xbn);
    bytes.writeUInt32LE(Number(state >> 16n), at);
  }
  return bytes;
}
