/** Each port that the console asks, where another service listens: an error shows what came. */
import { FOREIGN_SERVICES, startForeignService } from "@zooid/wire/testing/foreign-services";
import { expect, onTestFinished, test } from "vitest";
import type { User } from "./access/user.ts";
import { EnsembleFacts } from "./facts/ensemble-facts.ts";
import { AdminPorts } from "./members/admin-ports.ts";

test.each(FOREIGN_SERVICES)("the port of $name is no member, and no admin port", async (service) => {
  const address = await startForeignService(service, onTestFinished);
  const facts = new EnsembleFacts({ name: "e", hosts: address });
  onTestFinished(() => facts.stop());
  const [member] = await facts.sample();
  const reason = service.name === "tls" ? "the port speaks TLS" : service.shown;
  expect(member).toMatchObject({ isReachable: false, reason: expect.stringContaining(reason) });
  const signal = new AbortController().signal;
  const asked = new AdminPorts({ 0: `http://${address}` }).run({ sid: null, name: "x", user: {} as User, signal });
  // The HTTP parser keeps the bytes from where it stopped: maybe without the first one.
  const shownByHttp = service.name === "http" ? "answers with status 400 and no body" : service.shown.slice(2);
  await expect(asked).rejects.toMatchObject({
    problem: { code: "NO_ADMIN_ANSWER", detail: expect.stringContaining(shownByHttp) },
  });
});
