import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { ServiceDiscovery } from "@zooid/recipes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.stop());

const MAIL = { name: "mail", id: "m1", address: "10.0.0.1", port: 25, payload: { zone: 1 } };

test("services are listed by name, and a service by its instances", async () => {
  await using zk = await connect(server.connectString);
  await using discovery = new ServiceDiscovery(zk, "/a");
  await discovery.register({
    name: "web",
    id: "w1",
    address: "10.0.0.2",
    sslPort: 443,
    uriSpec: "{scheme}://{address}",
  });
  await discovery.register(MAIL);
  await using text = await Session.open(server.connectString);
  expect((await text.run("discover", "/a")).stdout).toBe("mail\nweb\n");
  expect((await text.run("discover", "/a", "mail")).stdout).toBe('m1 10.0.0.1:25 dynamic {"zone":1}\n');
  expect((await text.run("discover", "/a", "web")).stdout).toBe("w1 10.0.0.2:- ssl:443 dynamic https://10.0.0.2\n");
  await using json = await Session.open(server.connectString, "json");
  expect((await json.run("discover", "/a")).objects).toEqual([
    { command: "discover", path: "/a", names: ["mail", "web"] },
  ]);
  expect((await json.run("discover", "/a", "mail")).objects).toMatchObject([
    { instances: [{ ...MAIL, sslPort: null, serviceType: "dynamic", enabled: true, uri: null }] },
  ]);
});

test("a service that was never registered has no instances", async () => {
  await using session = await Session.open(server.connectString, "json");
  expect((await session.run("discover", "/no", "mail")).objects).toMatchObject([{ instances: [] }]);
});

test("added, changed and removed instances are printed with --watch", async () => {
  await using zk = await connect(server.connectString);
  await using discovery = new ServiceDiscovery(zk, "/b");
  const first = await discovery.register(MAIL);
  await using session = await Session.open(server.connectString, "json");
  const services = session.start("discover", "--watch", "/b");
  await services.shows("watching /b");
  const instances = session.start("discover", "--watch", "/b", "mail");
  await instances.shows("watching mail below /b");
  const second = await discovery.register({ ...MAIL, id: "m2", port: 26 });
  await instances.shows('"port":26');
  second.update({ port: 27 });
  await instances.shows('"port":27');
  await first.close();
  await instances.shows("removed");
  await discovery.register({ name: "web" });
  await services.shows('"web"');
  for (const watcher of [instances, services]) {
    watcher.giveUp();
    expect(await watcher.ended).toBe(0);
  }
  expect(instances.objects).toMatchObject([
    { event: "added", id: "m1" },
    { event: "added", id: "m2" },
    { event: "changed", id: "m2", port: 27 },
    { event: "removed", id: "m1" },
    { command: "discover", name: "mail", events: 4 },
  ]);
  expect(services.objects).toMatchObject([
    { event: "added", name: "mail" },
    { event: "added", name: "web" },
    { command: "discover", events: 2 },
  ]);
});
