import { testGolden } from "../testing/golden-runs.ts";
import { GOLDEN_SEEDS } from "./golden.ts";

testGolden(GOLDEN_SEEDS.slice(1));
