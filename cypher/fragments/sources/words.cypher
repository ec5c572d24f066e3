// The words of the passage <part> of a source <source>: of one that is cut, those between two cuts.
CASE WHEN <source>.cuts IS NULL THEN <source>.text
     ELSE substring(<source>.text, ([0] + <source>.cuts)[<part>],
                    ([0] + <source>.cuts + [1000000])[<part> + 1] - ([0] + <source>.cuts)[<part>]) END
