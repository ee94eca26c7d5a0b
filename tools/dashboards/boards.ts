import type { Board } from "./board.ts";
import { ENSEMBLE_BOARD } from "./ensemble-board.ts";
import { HISTORY_BOARD } from "./history-board.ts";
import { SERVER_BOARD } from "./server-board.ts";

export const BOARDS: readonly Board[] = [ENSEMBLE_BOARD, SERVER_BOARD, HISTORY_BOARD];
