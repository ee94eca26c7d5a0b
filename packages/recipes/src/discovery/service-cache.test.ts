import { type ClientState, connect } from "@zooid/client";
import { honestAnswer, REFUSED, ScriptedServer } from "@zooid/client/testing/scripted-server";
import { expect, test } from "vitest";
import { ServiceDiscovery } from "./service-discovery.ts";

/** Whether a copy counts as followed in each state of its client. */
const FOLLOWED: Readonly<Record<ClientState["kind"], boolean>> = {
  connecting: false,
  connected: true,
  "read-only": true,
  suspended: false,
  lost: false,
  "auth-failed": false,
  closed: false,
};

test("in each state of the client a copy is followed where a server answers, and stale elsewhere", async () => {
  await using server = await ScriptedServer.start();
  const connecting = connect(server.hosts, { readOnly: "allow", random: () => 0 });
  let line = await server.session();
  line.serve(honestAnswer);
  const zk = await connecting;
  const seen: (readonly [kind: ClientState["kind"], isFollowed: boolean])[] = [];
  const copy = new ServiceDiscovery(zk, "/services").cache("web");
  // Behind the copy's own subscription.
  zk.state$.subscribe(({ kind }) => seen.push([kind, copy.staleMs === 0]));
  const became = (kind: ClientState["kind"]) => expect.poll(() => seen.at(-1)?.[0]).toBe(kind);
  await became("connected");

  line.reset();
  line = await server.session({ readOnly: true });
  line.serve(honestAnswer);
  await became("read-only");

  line.reset();
  await server.session(REFUSED);
  line = await server.session();
  line.serve(honestAnswer);
  await became("connected");
  await zk.close();

  for (const [kind, isFollowed] of seen) expect([kind, isFollowed]).toEqual([kind, FOLLOWED[kind]]);
  const kinds = new Set(seen.map(([kind]) => kind));
  expect(kinds).toEqual(new Set(["connected", "suspended", "read-only", "lost", "closed"]));
});
