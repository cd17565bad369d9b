"""The whole job in a browser, on this machine: Model, Plan, Flight, Identify, Live, Verdict."""
