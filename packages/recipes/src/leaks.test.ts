import { testLeaks } from "./testing/leak-rounds.ts";

testLeaks(6);
