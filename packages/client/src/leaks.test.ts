import { testLeaks } from "./testing/leak-rounds.ts";

testLeaks({ count: 200, judgesHeap: false });
