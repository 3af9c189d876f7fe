export declare const unsaid: (table: Record<string, string>) => string[];
export declare const asked: () => { file: string; english: string }[];
export declare const faults: () => string[];
