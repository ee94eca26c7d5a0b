import { expect, test } from "vitest";
import { ConnectionPlaces } from "./connection-places.ts";

function placesOf(): { places: ConnectionPlaces<string>; closed: string[] } {
  const closed: string[] = [];
  const places = new ConnectionPlaces<string>({
    countMax: 4,
    shareMax: 3,
    reserveMax: 2,
    close: (connection) => closed.push(connection),
  });
  return { places, closed };
}

test("when all places are taken the connection that has waited longest, of the address with most, gives way", () => {
  const { places, closed } = placesOf();
  for (const name of ["a1", "a2", "a3"]) places.add(name, "10.0.0.1");
  places.add("b1", "10.0.0.2");
  places.setBusy("a1", true);
  places.setBusy("a1", false);
  expect(places.add("c1", "10.0.0.3")).toBe("any");
  expect(closed).toEqual(["a2"]);
  expect(places.count).toBe(4);
});

test("an address that has its share makes room for itself alone", () => {
  const { places, closed } = placesOf();
  places.add("b1", "10.0.0.2");
  for (const name of ["a1", "a2", "a3", "a4", "a5"]) expect(places.add(name, "10.0.0.1")).toBe("any");
  expect(closed).toEqual(["a1", "a2"]);
  const sites = placesOf();
  for (let host = 1; host <= 5; host++) sites.places.add(`h${host}`, `2001:db8::${host}`);
  expect(sites.closed).toEqual(["h1", "h2"]);
});

test("when all are busy a new connection may ask for probes, and the oldest that does not gives way", () => {
  const { places, closed } = placesOf();
  for (const [i, name] of ["a1", "b1", "c1", "d1"].entries()) {
    places.add(name, `10.0.0.${i}`);
    places.setBusy(name, true);
  }
  expect(["p1", "p2", "p3"].map((name) => places.add(name, "10.0.0.9"))).toEqual(["probes", "probes", "probes"]);
  expect(closed).toEqual(["p1"]);
  expect([places.isReserved("p3"), places.isReserved("a1")]).toEqual([true, false]);
  places.setBusy("p2", true);
  places.setBusy("p3", true);
  expect(places.add("p4", "10.0.0.9")).toBe("none");
  places.remove("b1");
  expect(places.add("e1", "10.0.0.9")).toBe("any");
});

test("a connection that is removed twice, or was never there, changes nothing", () => {
  const { places } = placesOf();
  places.add("a1", "10.0.0.1");
  places.remove("a1");
  places.remove("a1");
  places.setBusy("a1", true);
  expect([places.count, places.isReserved("a1")]).toEqual([0, false]);
});
