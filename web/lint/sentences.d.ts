export declare const unsaid: (table: Record<string, string>) => string[];
export declare const asked: () => { file: string; english: string }[];
export declare const faults: () => string[];
export declare const refused: () => { file: string; english: string }[];
export declare const tells: (table: Record<string, string>, english: string) => boolean;
