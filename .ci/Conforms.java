import java.io.FileInputStream;
import java.util.Map;
import java.util.TreeMap;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.PDFAParser;
import org.verapdf.pdfa.PDFAValidator;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;
import org.verapdf.pdfa.results.ValidationResult;

/** Checks files by the rules of profiles: Conforms ua1,2a FILE.pdf ... names each rule that fails, with its count. */
public class Conforms {
  public static void main(String[] words) throws Exception {
    VeraGreenfieldFoundryProvider.initialise();
    int code = 0;
    for (int place = 1; place < words.length; place++) {
      for (String profile : words[0].split(",")) {
        PDFAFlavour flavour = PDFAFlavour.fromString(profile);
        if (flavour == PDFAFlavour.NO_FLAVOUR) {
          System.err.println(profile + " is no profile");
          System.exit(2);
        }
        code = Math.max(code, check(words[place], profile, flavour));
      }
    }
    System.exit(code);
  }

  private static int check(String file, String profile, PDFAFlavour flavour) throws Exception {
    try (FileInputStream content = new FileInputStream(file);
        PDFAParser parser = Foundries.defaultInstance().createParser(content, flavour);
        PDFAValidator validator = Foundries.defaultInstance().createValidator(flavour, false)) {
      ValidationResult result = validator.validate(parser);
      Map<String, Integer> failed = new TreeMap<>();
      for (TestAssertion one : result.getTestAssertions()) {
        if (one.getStatus() == TestAssertion.Status.FAILED) {
          failed.merge(one.getRuleId().getClause() + "-" + one.getRuleId().getTestNumber() + ": " + one.getMessage(), 1, Integer::sum);
        }
      }
      for (Map.Entry<String, Integer> one : failed.entrySet()) {
        System.out.println(profile + ", " + one.getValue() + " times, rule " + one.getKey());
      }
      return result.isCompliant() ? 0 : 1;
    }
  }
}
