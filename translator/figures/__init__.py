"""Pure functions of traces and arrays that return plotly figures."""
