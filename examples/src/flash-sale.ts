/**
 * Shows a flash sale: 10 in stock, 100 buyers in three processes, all at once. 10 buy, nothing is
 * sold twice.
 *
 *     npm run example examples/src/flash-sale.ts [HOST:PORT]
 */
import { connect, text } from "@zooid/client";
import { Barrier, Mutex, SharedValue } from "@zooid/recipes";
import { isChild, report, reported, startProcess, zookeeper } from "./zookeeper.ts";

const STOCK = "/examples/sale/stock";
const DOORS = "/examples/sale/doors";
const IN_STOCK = 10;
const BUYERS = [34, 33, 33];

if (isChild) await buyers();
else await sale();

async function buyers(): Promise<void> {
  const [connectString = "", count = ""] = process.argv.slice(2);
  await using zk = await connect(connectString);
  const lock = new Mutex(zk, "/examples/sale/lock");

  /** One buyer: has exclusive access to the stock, and writes it only if that is still true. */
  const buy = (): Promise<boolean> =>
    lock.use(async (lease) => {
      const left = Number(text.decode((await zk.get(STOCK)).data));
      if (left === 0) return false;
      await lease
        .guard()
        .set(STOCK, String(left - 1))
        .commit();
      return true;
    });

  report("waiting");
  await new Barrier(zk, DOORS).wait();
  const outcomes = await Promise.all(Array.from({ length: Number(count) }, buy));
  report(outcomes.filter((hasBought) => hasBought).length);
}

async function sale(): Promise<void> {
  await using ensemble = await zookeeper();
  await using zk = await connect(ensemble.connectString);
  const stock = new SharedValue(zk, STOCK, { seed: String(IN_STOCK), codec: text });
  await stock.set(String(IN_STOCK));
  const doors = new Barrier(zk, DOORS);
  await doors.set();
  const processes = BUYERS.map((count) => startProcess(import.meta.filename, ensemble.connectString, String(count)));
  await Promise.all(processes.map((buyers) => reported(buyers)));
  const outcomes = processes.map((buyers) => reported<number>(buyers));
  await doors.remove();
  const bought = await Promise.all(outcomes);
  console.log(`bought in each process: ${bought.join(", ")}`);
  const sold = bought.reduce((sum, count) => sum + count, 0);
  console.log(
    `${BUYERS.reduce((sum, count) => sum + count, 0)} buyers, ${sold} sold, ${(await stock.get()).value} left`,
  );
  if (sold !== IN_STOCK) process.exitCode = 1;
}
